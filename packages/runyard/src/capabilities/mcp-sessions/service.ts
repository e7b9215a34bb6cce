import { randomBytes } from 'node:crypto';
import type { Caller } from '../../platform/auth/caller.js';
import type { Settings } from '../../platform/config.js';
import type { Database } from '../../platform/storage/database.js';
import { ServedRequests } from './served-requests.js';
import { McpSessionStore } from './store.js';

export type { ServedRequest, ServedRequests } from './served-requests.js';
export type { FoundRequest, StoredEvent } from './store.js';

/** How often to note that a session is in use. */
const useNotedMs = 3_600_000;

/** A session of a client, as every process knows it. */
export interface McpSession {
  readonly sessionId: string;
  readonly userId: string | null;
  /** The messages that made the session what it is. */
  readonly handshake: readonly unknown[];
}

/** Sessions of MCP clients and their requests in progress, for all processes of the service. */
export class McpSessionsService {
  readonly requests: ServedRequests;
  /** Whether other processes may use the database. */
  readonly isShared: boolean;
  private readonly store: McpSessionStore;

  constructor(database: Database, { leaseMs }: Pick<Settings, 'leaseMs'>) {
    this.store = new McpSessionStore(database);
    this.isShared = database.dialect === 'postgres';
    this.requests = new ServedRequests(this.store, database, leaseMs);
  }

  /** Stores a new session. */
  begin({ sessionId, userId, handshake }: McpSession): Promise<void> {
    return this.store.insert(sessionId, userId, JSON.stringify(handshake));
  }

  /** A session of the caller's own; those of others do not exist. */
  async find({ userId }: Caller, sessionId: string): Promise<McpSession | 'ended' | undefined> {
    const stored = await this.store.session(sessionId);
    if (stored === undefined || stored.userId !== userId) return undefined;
    if (stored.ended) return 'ended';
    return { sessionId, userId, handshake: JSON.parse(stored.handshake) };
  }

  changeHandshake(sessionId: string, handshake: readonly unknown[]): Promise<void> {
    return this.store.changeHandshake(sessionId, JSON.stringify(handshake));
  }

  /** A session in use is not removed with old ones. */
  noteUse(sessionId: string): Promise<void> {
    return this.store.noteUse(sessionId, useNotedMs);
  }

  /** Ends a session of the caller's own, with the streams of its requests. */
  end(sessionId: string): Promise<boolean> {
    return this.store.end(sessionId);
  }
}

/** A session that is not stored yet. Its id cannot be guessed. */
export function newMcpSession({ userId }: Caller, handshake: readonly unknown[]): McpSession {
  return { sessionId: randomBytes(16).toString('hex'), userId, handshake };
}
