import { randomBytes } from 'node:crypto';
import type { Caller } from '../../platform/auth/caller.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Settings } from '../../platform/settings/config.js';
import type { Database } from '../../platform/storage/database.js';
import { ServedRequests } from './served-requests.js';
import { McpSessionStore } from './store.js';

export type { ServedRequest, ServedRequests } from './served-requests.js';
export type { FoundRequest, StoredEvent } from './store.js';

/** How often to note that a session is in use. */
const useNotedMs = 3_600_000;

/** Without a hint: how often a process with an open stream looks whether the session was ended in another one. */
const endLookMs = 30_000;

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

  constructor(
    private readonly database: Database,
    { leaseMs }: Pick<Settings, 'leaseMs'>,
  ) {
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
  async end(sessionId: string): Promise<boolean> {
    const ended = await this.store.end(sessionId);
    if (ended) this.database.notifications.publish({ kind: 'request_changed', runId: sessionId });
    return ended;
  }

  /** Calls `act` once when the session was ended in another process. The returned function ends that. */
  whenEnded(sessionId: string, act: () => void): () => void {
    if (!this.isShared) return () => {};
    let isLooking = false;
    const look = async () => {
      if (isLooking) return;
      isLooking = true;
      // an outage is left to the next look
      const stored = await this.store.session(sessionId).catch(() => 'unknown' as const);
      isLooking = false;
      if (stored === 'unknown' || stored?.ended === false) return;
      stop();
      act();
    };
    const stops = [
      systemTimers.every(endLookMs, () => void look()),
      this.database.notifications.subscribe(({ kind, runId }) => {
        if (kind === 'request_changed' && runId === sessionId) void look();
      }),
    ];
    const stop = () => {
      for (const one of stops) one();
    };
    return stop;
  }
}

/** A session that is not stored yet. Its id cannot be guessed. */
export function newMcpSession({ userId }: Caller, handshake: readonly unknown[]): McpSession {
  return { sessionId: randomBytes(16).toString('hex'), userId, handshake };
}
