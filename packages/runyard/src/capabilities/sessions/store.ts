import type { Json, JsonObject } from '../../core/json.js';
import type { SessionSnapshot, SessionSummary } from '../../core/runs/ports.js';
import type { RunKind } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type Database, statement } from '../../platform/storage/database.js';
import type { SessionsTable } from '../../platform/storage/schema.js';

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

export interface LatestSessions {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly exceptSessionId: string;
  readonly limit: number;
}

interface SnapshotRow {
  readonly user_id: string | null;
  readonly name: string | null;
  readonly key: string | null;
  readonly value: string | null;
}

const readSnapshot = statement(
  'session_snapshot',
  `SELECT sessions.user_id, sessions.name, session_state.key, session_state.value
   FROM sessions LEFT JOIN session_state ON session_state.session_id = sessions.session_id
   WHERE sessions.session_id = ?`,
);

interface SummaryRow {
  readonly summary: string;
  readonly topics: string;
  readonly covers_until: number;
  readonly updated_at: number;
}

const readSummary = statement(
  'session_summary',
  'SELECT summary, topics, covers_until, updated_at FROM session_summaries WHERE session_id = ?',
);

export class SessionStore {
  constructor(private readonly database: Database) {}

  /** For the heart, which acts within one session and has checked whose it is. */
  async snapshot(sessionId: string): Promise<SessionSnapshot | undefined> {
    const rows = await this.database.read<SnapshotRow>(readSnapshot, [sessionId]);
    const [first] = rows;
    if (first === undefined) return undefined;
    // Without a prototype, or a key named __proto__ would not be a key.
    const state: JsonObject = Object.create(null);
    for (const { key, value } of rows) {
      if (key !== null && value !== null) state[key] = JSON.parse(value) as Json;
    }
    return { sessionId, userId: first.user_id, name: first.name, state: { ...state } };
  }

  /** For the heart, as `snapshot`. */
  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    const [row] = await this.database.read<SummaryRow>(readSummary, [sessionId]);
    if (row === undefined) return undefined;
    return {
      summary: row.summary,
      topics: JSON.parse(row.topics) as string[],
      coversUntil: row.covers_until,
      updatedAt: row.updated_at,
    };
  }

  async find(scope: DataScope, sessionId: string): Promise<Session | undefined> {
    let query = this.database.query.selectFrom('sessions').selectAll().where('session_id', '=', sessionId);
    if (scope.kind === 'user') query = query.where('user_id', '=', scope.userId);
    const row = await query.executeTakeFirst();
    return row && sessionFromRow(row);
  }

  /** The sessions with a component that were used last, the newest first. */
  async latest(scope: DataScope, query: LatestSessions): Promise<Session[]> {
    let sessions = this.database.query
      .selectFrom('sessions')
      .selectAll()
      .where('kind', '=', query.kind)
      .where('component_id', '=', query.componentId)
      .where('session_id', '<>', query.exceptSessionId);
    if (scope.kind === 'user') sessions = sessions.where('user_id', '=', scope.userId);
    const rows = await sessions
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
    kind: row.kind as RunKind,
    componentId: row.component_id,
    userId: row.user_id,
    name: row.name,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as JsonObject),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function stateValue(value: Json): string {
  // Code of the application sets state: an undefined gets through the types, and is stored like null.
  return JSON.stringify(value) ?? 'null';
}
