import {
  type Database,
  type RunStatement,
  type Statement,
  statement,
  timedStatement,
} from '../../platform/storage/database.js';
import type { McpRequestsTable, McpSessionsTable } from './tables.js';

export interface StoredSession {
  readonly sessionId: string;
  readonly userId: string | null;
  /** The messages that made the session what it is. */
  readonly handshake: string;
  readonly ended: boolean;
}

/** A request that takes long, so that its stream can be resumed. */
export interface StoredRequest {
  readonly requestKey: string;
  readonly sessionId: string;
  readonly messageId: string;
  readonly message: string;
  readonly runId: string;
}

export interface FoundRequest extends StoredRequest {
  readonly answered: boolean;
  /** Who serves it; null when that process gave it back, or its lease has ended. */
  readonly leaseOwner: string | null;
}

export interface StoredEvent {
  readonly position: number;
  readonly message: string;
}

const insertSession = timedStatement(
  'insert_mcp_session',
  (now) => `INSERT INTO mcp_sessions (session_id, user_id, handshake, created_at, used_at)
    VALUES (?, ?, ?, ${now}, ${now}) RETURNING 1 AS written`,
);

const readSession = statement(
  'read_mcp_session',
  'SELECT session_id, user_id, handshake, ended_at FROM mcp_sessions WHERE session_id = ?',
);

const changeHandshake = statement(
  'change_mcp_handshake',
  'UPDATE mcp_sessions SET handshake = ? WHERE session_id = ? RETURNING 1 AS written',
);

const noteUse = timedStatement(
  'note_mcp_session_use',
  (now) =>
    `UPDATE mcp_sessions SET used_at = ${now} WHERE session_id = ? AND used_at < ${now} - ? RETURNING 1 AS written`,
);

const endSession = timedStatement(
  'end_mcp_session',
  (now) =>
    `UPDATE mcp_sessions SET ended_at = ${now} WHERE session_id = ? AND ended_at IS NULL RETURNING 1 AS written`,
);

const removeRequests = statement(
  'remove_requests_of_mcp_session',
  'DELETE FROM mcp_requests WHERE session_id = ?',
);

const insertRequest = timedStatement(
  'insert_mcp_request',
  (now) => `INSERT INTO mcp_requests
    (request_key, session_id, message_id, message, run_id, lease_owner, lease_until, created_at)
    SELECT CAST(? AS text), session_id, CAST(? AS text), CAST(? AS text), CAST(? AS text), CAST(? AS text),
      ${now} + CAST(? AS bigint), ${now}
    FROM mcp_sessions WHERE session_id = ? AND ended_at IS NULL
    RETURNING 1 AS written`,
);

const insertEvent = statement(
  'insert_mcp_event',
  'INSERT INTO mcp_events (request_key, position, message) VALUES (?, ?, ?)',
);

/** Only the process that serves the request may add to it. */
const holdRequest = timedStatement(
  'hold_mcp_request',
  (now) => `UPDATE mcp_requests SET answered_at = CASE WHEN ? = 1 THEN ${now} END
    WHERE request_key = ? AND lease_owner = ? AND answered_at IS NULL RETURNING 1 AS written`,
);

const readRequest = timedStatement(
  'read_mcp_request',
  (now) => `SELECT request_key, session_id, message_id, message, run_id, answered_at,
      CASE WHEN lease_until > ${now} THEN lease_owner END AS lease_owner
    FROM mcp_requests WHERE request_key = ? AND session_id = ?`,
);

const findOpen = statement(
  'find_open_mcp_request',
  `SELECT request_key FROM mcp_requests
   WHERE session_id = ? AND message_id = ? AND answered_at IS NULL ORDER BY created_at DESC LIMIT 1`,
);

const readEvents = statement(
  'read_mcp_events',
  'SELECT position, message FROM mcp_events WHERE request_key = ? AND position > ? ORDER BY position LIMIT ?',
);

const takeOver = timedStatement(
  'take_over_mcp_request',
  (now) => `UPDATE mcp_requests SET lease_owner = ?, lease_until = ${now} + CAST(? AS bigint)
    WHERE request_key = ? AND answered_at IS NULL
      AND (lease_owner IS NULL OR lease_until <= ${now} OR lease_owner = ?)
    RETURNING (SELECT max(position) FROM mcp_events WHERE mcp_events.request_key = mcp_requests.request_key)
      AS position`,
);

const renewLeases = given(
  'renew_mcp_leases',
  (keys, now) => `UPDATE mcp_requests SET lease_until = ${now} + CAST(? AS bigint)
    WHERE lease_owner = ? AND request_key ${keys} RETURNING request_key`,
);

const releaseLeases = given(
  'release_mcp_leases',
  (keys) => `UPDATE mcp_requests SET lease_owner = NULL WHERE lease_owner = ? AND request_key ${keys}
    RETURNING request_key`,
);

const openRequest = statement(
  'open_mcp_request',
  'SELECT 1 AS found FROM mcp_requests WHERE request_key = ? AND session_id = ? AND answered_at IS NULL',
);

/** Those who leave messages come one after the other, so that each counts what the others have left. */
const lockRequest: Statement = { ...openRequest, postgres: `${openRequest.postgres} FOR UPDATE` };

const insertInbox = statement(
  'insert_mcp_inbox',
  `INSERT INTO mcp_inbox (request_key, entry_id, message)
   SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text)
   WHERE (SELECT count(*) FROM mcp_inbox WHERE request_key = ?) < ?
   RETURNING 1 AS written`,
);

const findWaiting = given(
  'find_mcp_inbox',
  (keys) => `SELECT DISTINCT request_key FROM mcp_inbox WHERE request_key ${keys}`,
);

const takeInbox = statement(
  'take_mcp_inbox',
  'DELETE FROM mcp_inbox WHERE request_key = ? RETURNING entry_id, message',
);

/** How many messages of a client may wait for another process, for each request. */
const mostWaiting = 100;

const eventsAtOnce = 200;

/** Sessions of MCP clients in one database. Who may use a session is checked by the service. */
export class McpSessionStore {
  constructor(private readonly database: Database) {}

  async insert(sessionId: string, userId: string | null, handshake: string): Promise<void> {
    await this.database.change(insertSession, [sessionId, userId, handshake]);
  }

  async session(sessionId: string): Promise<StoredSession | undefined> {
    type Row = Pick<McpSessionsTable, 'session_id' | 'user_id' | 'handshake' | 'ended_at'>;
    const [row] = await this.database.read<Row>(readSession, [sessionId]);
    if (row === undefined) return undefined;
    const { user_id: userId, handshake, ended_at: endedAt } = row;
    return { sessionId, userId, handshake, ended: endedAt !== null };
  }

  async changeHandshake(sessionId: string, handshake: string): Promise<void> {
    await this.database.change(changeHandshake, [handshake, sessionId]);
  }

  /** Unless that was noted within the given time. */
  async noteUse(sessionId: string, withinMs: number): Promise<void> {
    await this.database.change(noteUse, [sessionId, withinMs]);
  }

  /** Ends a session. Its row stays for a while, so that clients learn that it has ended. */
  end(sessionId: string): Promise<boolean> {
    return this.database.transaction(async (run) => {
      const ended = await run(this.words(endSession), [sessionId]);
      if (ended.length > 0) await run(this.words(removeRequests), [sessionId]);
      return ended.length > 0;
    });
  }

  /** Stores a request with what was sent for it so far. False when its session has ended. */
  async insertRequest(
    { requestKey, sessionId, messageId, message, runId }: StoredRequest,
    owner: string,
    leaseMs: number,
    events: readonly StoredEvent[],
  ): Promise<boolean> {
    const parameters = [requestKey, messageId, message, runId, owner, leaseMs, sessionId];
    if (events.length === 0) return (await this.database.change(insertRequest, parameters)).length > 0;
    return this.database.transaction(async (run) => {
      const written = await run(this.words(insertRequest), parameters);
      if (written.length > 0) await this.insertEvents(run, requestKey, events);
      return written.length > 0;
    });
  }

  /** Adds to a request that this process serves. False when it does not any longer. */
  append(
    requestKey: string,
    owner: string,
    events: readonly StoredEvent[],
    answered: boolean,
  ): Promise<boolean> {
    return this.database.transaction(async (run) => {
      const held = await run(this.words(holdRequest), [answered ? 1 : 0, requestKey, owner]);
      if (held.length > 0) await this.insertEvents(run, requestKey, events);
      return held.length > 0;
    });
  }

  async request(requestKey: string, sessionId: string): Promise<FoundRequest | undefined> {
    const [row] = await this.database.read<McpRequestsTable>(readRequest, [requestKey, sessionId]);
    if (row === undefined) return undefined;
    const { message_id: messageId, message, run_id: runId, lease_owner: leaseOwner } = row;
    const answered = row.answered_at !== null;
    return { requestKey, sessionId, messageId, message, runId, leaseOwner, answered };
  }

  /** The request of a session that has this id and is not answered yet. */
  async openRequest(sessionId: string, messageId: string): Promise<string | undefined> {
    const rows = await this.database.read<{ request_key: string }>(findOpen, [sessionId, messageId]);
    return rows[0]?.request_key;
  }

  /** What was sent after a position, or the first part of it. */
  events(requestKey: string, after: number): Promise<StoredEvent[]> {
    return this.database.read(readEvents, [requestKey, after, eventsAtOnce]);
  }

  /**
   * Takes a request over from a process that gave it back, whose lease has ended, or that is known to be gone. Answers
   * with the last position that was used, or undefined when another process serves it.
   */
  async takeOver(
    requestKey: string,
    owner: string,
    leaseMs: number,
    goneOwner: string | null,
  ): Promise<number | undefined> {
    const parameters = [owner, leaseMs, requestKey, goneOwner];
    const rows = await this.database.change<{ position: number | null }>(takeOver, parameters);
    return rows.length === 0 ? undefined : (rows[0]?.position ?? 0);
  }

  /** Answers with those that this process still serves. */
  async renew(requestKeys: readonly string[], owner: string, leaseMs: number): Promise<ReadonlySet<string>> {
    const parameters = [leaseMs, owner, requestKeys];
    const rows = await this.database.change<{ request_key: string }>(renewLeases, parameters);
    return new Set(rows.map((row) => row.request_key));
  }

  async release(requestKeys: readonly string[], owner: string): Promise<void> {
    await this.database.change(releaseLeases, [owner, requestKeys]);
  }

  /** Leaves a message for the process that serves a request. False when there is no such request, or too many wait. */
  leave(sessionId: string, requestKey: string, entryId: string, message: string): Promise<boolean> {
    return this.database.transaction(async (run) => {
      if ((await run(this.words(lockRequest), [requestKey, sessionId])).length === 0) return false;
      const parameters = [requestKey, entryId, message, requestKey, mostWaiting];
      return (await run(this.words(insertInbox), parameters)).length > 0;
    });
  }

  /** Those of the requests that have messages. */
  async waiting(requestKeys: readonly string[]): Promise<string[]> {
    const rows = await this.database.read<{ request_key: string }>(findWaiting, [requestKeys]);
    return rows.map((row) => row.request_key);
  }

  /**
   * Takes what waits for a request, in the order of its arrival. Undefined when another process serves the request: what
   * waits is for that one.
   */
  take(requestKey: string, owner: string): Promise<string[] | undefined> {
    return this.database.transaction(async (run) => {
      const held = await run(this.words(holdRequest), [0, requestKey, owner]);
      if (held.length === 0) return undefined;
      type Row = { entry_id: string; message: string };
      const rows = await run<Row>(this.words(takeInbox), [requestKey]);
      return rows
        .sort((one, other) => (one.entry_id < other.entry_id ? -1 : 1))
        .map(({ message }) => message);
    });
  }

  private async insertEvents(
    run: RunStatement,
    requestKey: string,
    events: readonly StoredEvent[],
  ): Promise<void> {
    for (const { position, message } of events)
      await run(this.words(insertEvent), [requestKey, position, message]);
  }

  private words(of: Statement): string {
    return of[this.database.dialect];
  }
}

/** A statement for a list of keys, which is its last parameter. */
function given(name: string, sql: (keys: string, now: string) => string): Statement {
  const sqlite = timedStatement(name, (now) => sql('IN (SELECT value FROM json_each(?))', now)).sqlite;
  const postgres = timedStatement(name, (now) => sql('= ANY(CAST(? AS text[]))', now)).postgres;
  return { name, sqlite, postgres };
}
