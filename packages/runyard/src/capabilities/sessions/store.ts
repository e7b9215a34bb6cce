import { type Json, type JsonObject, parseJson } from '../../core/json.js';
import type { SessionSnapshot, SessionSummary } from '../../core/runs/journal/ports.js';
import type { RunKind } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { within } from '../../platform/storage/scope.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import type { SessionStateTable, SessionSummariesTable, SessionsTable } from './tables.js';
import { type SessionUsage, usageOf } from './usage-store.js';

/** A session as it is stored. Times are milliseconds since the epoch. */
export interface Session {
  readonly sessionId: string;
  readonly kind: RunKind;
  readonly componentId: string;
  readonly userId: string | null;
  readonly name: string | null;
  readonly metadata: JsonObject | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A session with all that is shown of it beside its runs. */
export interface SessionRecord extends Session {
  readonly state: JsonObject;
  readonly summary: SessionSummary | null;
  /** Of all runs that have paused or ended; empty without any. */
  readonly usage: readonly SessionUsage[];
}

export interface LatestSessions {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly exceptSessionId: string;
  readonly limit: number;
}

interface SnapshotRow {
  readonly user_id: string | null;
  readonly name: string | null;
  readonly used: number;
  readonly key: string | null;
  readonly value: string | null;
}

const readSnapshot = statement(
  'session_snapshot',
  `SELECT sessions.user_id, sessions.name, session_state.key, session_state.value,
     CASE WHEN EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id) THEN 1 ELSE 0 END AS used
   FROM sessions LEFT JOIN session_state ON session_state.session_id = sessions.session_id
   WHERE sessions.session_id = ?`,
);

type SummaryRow = Omit<SessionSummariesTable, 'session_id'>;

const readSummary = statement(
  'session_summary',
  'SELECT summary, topics, covers_until, updated_at FROM session_summaries WHERE session_id = ?',
);

const ofSessions = (name: string, table: string): Statement => ({
  name,
  sqlite: `SELECT * FROM ${table} WHERE session_id IN (SELECT value FROM json_each(?))`,
  postgres: `SELECT * FROM ${table} WHERE session_id = ANY($1::text[])`,
});

const readSessions = ofSessions('sessions', 'sessions');
const readStates = ofSessions('states_of_sessions', 'session_state');
const readSummaries = ofSessions('summaries_of_sessions', 'session_summaries');

export class SessionStore {
  constructor(private readonly database: Database) {}

  /** For the heart, which acts within one session and has checked its owner. */
  async snapshot(sessionId: string): Promise<SessionSnapshot | undefined> {
    const rows = await this.database.read<SnapshotRow>(readSnapshot, [sessionId]);
    const [first] = rows;
    if (first === undefined) return undefined;
    // Without a prototype, or a key named __proto__ would not be a key.
    const state: JsonObject = Object.create(null);
    for (const { key, value } of rows) {
      if (key !== null && value !== null) state[key] = parseJson(value);
    }
    return {
      sessionId,
      userId: first.user_id,
      name: first.name,
      state: { ...state },
      ...(first.used === 0 && { unused: true }),
    };
  }

  /** For the heart, as `snapshot`. */
  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    const [row] = await this.database.read<SummaryRow>(readSummary, [sessionId]);
    return row && summaryFromRow(row);
  }

  async find(scope: DataScope, sessionId: string): Promise<Session | undefined> {
    const named = this.database.query.selectFrom('sessions').selectAll().where('session_id', '=', sessionId);
    const row = await within(named, scope, 'user_id').executeTakeFirst();
    return row && sessionFromRow(row);
  }

  /** Those of the sessions that are still there, in the order of the ids, which were found within a scope. */
  async records(sessionIds: readonly string[]): Promise<SessionRecord[]> {
    if (sessionIds.length === 0) return [];
    const [rows, states, summaries, usage] = await Promise.all([
      this.database.read<SessionsTable>(readSessions, [sessionIds]),
      this.database.read<SessionStateTable>(readStates, [sessionIds]),
      this.database.read<SessionSummariesTable>(readSummaries, [sessionIds]),
      usageOf(this.database, sessionIds),
    ]);
    const byId = new Map(rows.map((row) => [row.session_id, row]));
    const stateOf = statesById(states);
    const summaryOf = new Map(summaries.map((row) => [row.session_id, summaryFromRow(row)]));
    return sessionIds.flatMap((sessionId) => {
      const row = byId.get(sessionId);
      if (row === undefined) return [];
      const state = { ...stateOf.get(sessionId) };
      const summary = summaryOf.get(sessionId) ?? null;
      return [{ ...sessionFromRow(row), state, summary, usage: usage.get(sessionId) ?? [] }];
    });
  }

  /** The sessions with a component that were used last, the newest first. */
  async latest(scope: DataScope, query: LatestSessions): Promise<Session[]> {
    const sessions = this.database.query
      .selectFrom('sessions')
      .selectAll()
      .where('kind', '=', query.kind)
      .where('component_id', '=', query.componentId)
      .where('session_id', '<>', query.exceptSessionId);
    const rows = await within(sessions, scope, 'user_id')
      .orderBy('updated_at', 'desc')
      .orderBy('session_id', 'desc')
      .limit(query.limit)
      .execute();
    return rows.map(sessionFromRow);
  }
}

function sessionFromRow(row: SessionsTable): Session {
  return {
    sessionId: row.session_id,
    kind: row.kind,
    componentId: row.component_id,
    userId: row.user_id,
    name: row.name,
    metadata: storedJsonOrNull(row.metadata),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function statesById(rows: readonly SessionStateTable[]): ReadonlyMap<string, JsonObject> {
  const states = new Map<string, JsonObject>();
  for (const { session_id: sessionId, key, value } of rows) {
    // Without a prototype, or a key named __proto__ would not be a key.
    const state = states.get(sessionId) ?? (Object.create(null) as JsonObject);
    state[key] = parseJson(value);
    states.set(sessionId, state);
  }
  return states;
}

function summaryFromRow(row: SummaryRow): SessionSummary {
  return {
    summary: row.summary,
    topics: storedJson(row.topics),
    coversUntil: row.covers_until,
    updatedAt: row.updated_at,
  };
}

export function stateValue(value: Json): string {
  // Code of the application sets state: an undefined gets through the types, and is stored like null.
  return JSON.stringify(value) ?? 'null';
}
