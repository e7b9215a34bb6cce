import type { Json, JsonObject } from '../../core/json.js';
import type { SessionSummary } from '../../core/runs/journal/ports.js';
import type { RunKind } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import {
  type Database,
  type RunStatement,
  type Statement,
  statement,
} from '../../platform/storage/database.js';
import { ownerParameters, scopedStatement } from '../../platform/storage/scope.js';
import { storedJsonOrNull } from '../../platform/storage/text.js';
import { searchNameOf } from './search-name.js';
import { stateValue } from './store.js';

/** A session that is created before its first run. */
export interface NewSession {
  readonly sessionId: string;
  readonly kind: RunKind;
  /** Empty when it is not known yet: the first run sets it. */
  readonly componentId: string;
  readonly userId: string | null;
  readonly name: string | null;
  /** What searches find it by as long as it has no name. */
  readonly shownName: string | null;
  readonly state: JsonObject;
  readonly metadata: JsonObject | null;
  readonly now: number;
}

/** What becomes of a session. What is left out stays. */
export interface SessionChange {
  readonly name?: string | undefined;
  readonly state?: JsonObject | undefined;
  /** Keys of the state that stay, whatever the new state is. */
  readonly keptState?: readonly string[];
  /** A function makes it of what it is at that moment. */
  readonly metadata?: JsonObject | ((current: JsonObject) => JsonObject) | undefined;
  readonly summary?: SessionSummary | undefined;
  readonly now: number;
}

const insertSession = statement(
  'create_session',
  `INSERT INTO sessions
     (session_id, kind, component_id, user_id, name, search_name, metadata, created_at, updated_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO NOTHING RETURNING session_id`,
);

// The parts that are not given are null, and stay. A clock that is behind does not turn the time back.
const updateSession = scopedStatement('change_session', 'user_id', (owned, dialect) => {
  const later = dialect === 'sqlite' ? 'max' : 'greatest';
  return `UPDATE sessions SET updated_at = ${later}(updated_at, ?), name = coalesce(?, name),
      search_name = coalesce(?, search_name), metadata = coalesce(?, metadata)
    WHERE session_id = ?${owned} RETURNING metadata`;
});

const clearState: Statement = {
  name: 'clear_session_state',
  sqlite: `DELETE FROM session_state WHERE session_id = ?1 AND key NOT IN (SELECT value FROM json_each(?2))`,
  postgres: `DELETE FROM session_state WHERE session_id = $1 AND key <> ALL($2::text[])`,
};

const putSummary = statement(
  'put_session_summary',
  `INSERT INTO session_summaries (session_id, summary, topics, covers_until, updated_at) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (session_id) DO UPDATE SET summary = excluded.summary, topics = excluded.topics,
     covers_until = excluded.covers_until, updated_at = excluded.updated_at`,
);

/** Parameters of one statement are bounded. */
const keysAtOnce = 100;

/** Changes that people make to sessions: each is one transaction, concurrent with the runs in progress. */
export class SessionChangeStore {
  constructor(private readonly database: Database) {}

  /** Whether the session was made: false when there is one of this id, whosever it is. */
  create(session: NewSession): Promise<boolean> {
    const { sessionId, kind, componentId, userId, name, shownName, state, metadata, now } = session;
    return this.database.transaction(async (run) => {
      const made = await run(insertSession[this.database.dialect], [
        sessionId,
        kind,
        componentId,
        userId,
        name,
        searchNameOf(name ?? shownName),
        metadata && JSON.stringify(metadata),
        now,
        now,
      ]);
      if (made.length === 0) return false;
      await this.insertState(run, sessionId, state);
      return true;
    });
  }

  /** Whether there is such a session within the scope. The row is locked first, as runs do it. */
  change(scope: DataScope, sessionId: string, change: SessionChange): Promise<boolean> {
    const { name, state, keptState = [], metadata, summary, now } = change;
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      const update = (given: JsonObject | undefined) =>
        run<{ metadata: string | null }>(updateSession(scope)[dialect], [
          now,
          name ?? null,
          name === undefined ? null : searchNameOf(name),
          given === undefined ? null : JSON.stringify(given),
          sessionId,
          ...ownerParameters(scope),
        ]);
      const isMade = typeof metadata === 'function';
      const [changed] = await update(isMade ? undefined : metadata);
      if (changed === undefined) return false;
      if (isMade) await update(metadata(storedJsonOrNull(changed.metadata) ?? {}));
      if (state !== undefined) {
        await run(clearState[dialect], [sessionId, keptState]);
        await this.insertState(run, sessionId, state);
      }
      if (summary !== undefined) await run(putSummary[dialect], summaryRow(sessionId, summary));
      return true;
    });
  }

  private async insertState(run: RunStatement, sessionId: string, state: JsonObject): Promise<void> {
    const keys = Object.entries(state);
    for (let at = 0; at < keys.length; at += keysAtOnce) {
      const some = keys.slice(at, at + keysAtOnce);
      const rows = some.map(() => '(?, ?, ?)').join(', ');
      const sql = statement('', `INSERT INTO session_state (session_id, key, value) VALUES ${rows}`);
      await run(
        sql[this.database.dialect],
        some.flatMap(([key, value]: [string, Json]) => [sessionId, key, stateValue(value)]),
      );
    }
  }
}

function summaryRow(sessionId: string, { summary, topics, coversUntil, updatedAt }: SessionSummary) {
  return [sessionId, summary, JSON.stringify(topics), coversUntil, updatedAt];
}
