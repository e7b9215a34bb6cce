import type { KeptResponse, ResponseCache } from '../../core/models/cache/response-cache.js';
import { type Database, timedStatement } from '../../platform/storage/database.js';

const readResponse = timedStatement(
  'read_cached_response',
  (now) => `SELECT response FROM cached_responses WHERE cache_key = ? AND expires_at > ${now}`,
);

const writeResponse = timedStatement(
  'write_cached_response',
  (now) => `INSERT INTO cached_responses (cache_key, session_id, response, expires_at)
    VALUES (?, ?, ?, ${now} + CAST(? AS bigint))
    ON CONFLICT (cache_key) DO UPDATE SET session_id = excluded.session_id, response = excluded.response,
      expires_at = excluded.expires_at
    RETURNING 1 AS written`,
);

/** The answers of models that one database keeps. */
export class CachedResponseStore implements ResponseCache {
  constructor(private readonly database: Database) {}

  async get(key: string): Promise<string | undefined> {
    const [row] = await this.database.read<{ response: string }>(readResponse, [key]);
    return row?.response;
  }

  async put({ key, response, sessionId, ttlMs }: KeptResponse): Promise<void> {
    await this.database.change(writeResponse, [key, sessionId, response, ttlMs]);
  }
}
