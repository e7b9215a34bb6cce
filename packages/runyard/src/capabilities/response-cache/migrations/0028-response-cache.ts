import type { Migration } from '../../../platform/storage/database.js';

/** Answers of models that are given again to the same call. */
export const responseCacheTable: Migration = {
  version: 28,
  name: 'response-cache',

  up: () => [
    `CREATE TABLE cached_responses (
      cache_key text NOT NULL PRIMARY KEY,
      session_id text NOT NULL,
      response text NOT NULL,
      expires_at bigint NOT NULL
    )`,
    'CREATE INDEX cached_responses_by_expiry ON cached_responses (expires_at, cache_key)',
    'CREATE INDEX cached_responses_by_session ON cached_responses (session_id)',
  ],

  down: () => ['DROP TABLE cached_responses'],
};
