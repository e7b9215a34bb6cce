import type { Run, RunKind } from '../../../core/runs/run.js';
import type { DataScope } from '../../../platform/auth/caller.js';
import { isUnbounded, type TimeBounds } from '../../../platform/http/defences/time-bounds.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { runColumns, runFromRow } from './rows-store.js';
import { runsOf } from './run-list-store.js';
import { removeSessions } from './session-removal-store.js';
import { textsOf } from './text-store.js';

/** Which runs of a session. */
export interface SessionRunRange {
  readonly created: TimeBounds;
  readonly order: SessionOrder;
  readonly offset: number;
  readonly limit: number;
}

/** By the start of the runs. */
export type SessionOrder = 'asc' | 'desc';

const runList = runColumns.join(', ');

const idsOf = (order: SessionOrder, when: string) => `SELECT run_id FROM runs
   WHERE session_id = ? AND parent_run_id IS NULL${when}
   ORDER BY session_seq ${order}, run_id ${order} LIMIT ? OFFSET ?`;

const readIds = {
  asc: statement('run_ids_of_session', idsOf('asc', '')),
  desc: statement('newest_run_ids_of_session', idsOf('desc', '')),
};

// Apart: PostgreSQL takes those of any two times to be few, and sorts all runs of the session instead of following it.
const between = ' AND created_at >= ? AND created_at < ?';
const readIdsBetween = {
  asc: statement('run_ids_of_session_between', idsOf('asc', between)),
  desc: statement('newest_run_ids_of_session_between', idsOf('desc', between)),
};

const readLastIds = statement(
  'last_run_ids_of_session',
  `SELECT run_id FROM runs WHERE session_id = ? AND parent_run_id IS NULL
   ORDER BY session_seq DESC, run_id DESC LIMIT ?`,
);

// Kind and component are compared on the way. Through their index, all runs of a long session would be read and sorted.
const readFirst: Statement = {
  name: 'first_run_of_session',
  sqlite: `SELECT ${runList} FROM runs
    WHERE session_id = ? AND +kind = ? AND +component_id = ? AND parent_run_id IS NULL
    ORDER BY session_seq, run_id LIMIT 1`,
  postgres: `SELECT ${runList} FROM (
      SELECT * FROM runs WHERE session_id = $1 AND parent_run_id IS NULL ORDER BY session_seq, run_id OFFSET 0
    ) AS ordered WHERE kind = $2 AND component_id = $3 ORDER BY session_seq, run_id LIMIT 1`,
};

const readAny = statement('any_run_of_session', 'SELECT 1 FROM runs WHERE session_id = ? LIMIT 1');

const readRested = statement(
  'any_rested_run_of_session',
  "SELECT 1 FROM runs WHERE session_id = ? AND status NOT IN ('pending', 'running') LIMIT 1",
);

const readOpen: Statement = {
  name: 'open_runs_of_sessions',
  sqlite: `SELECT ${runList} FROM runs
    WHERE session_id IN (SELECT value FROM json_each(?)) AND +status IN ('pending', 'running')`,
  postgres: `SELECT ${runList} FROM runs
    WHERE session_id = ANY($1::text[]) AND status IN ('pending', 'running')`,
};

// The id of a nested run is in the step that started it.
const holds = (position: string, run: string) => `
  SELECT steps.run_id FROM runs JOIN steps ON steps.run_id = runs.run_id
  WHERE runs.session_id = ? AND runs.created_at <= ? AND runs.updated_at >= ?
    AND steps.kind = 'member' AND ${position}(steps.input, ${run}) > 0
  ORDER BY runs.session_seq, runs.run_id LIMIT 1`;

const readHolder: Statement = {
  name: 'run_that_holds_a_member',
  sqlite: holds('instr', '?'),
  postgres: statement('', holds('strpos', '?')).postgres,
};

/** The runs of sessions that were found within the caller's scope. Nested runs have no rows. */
export class SessionRunStore {
  constructor(private readonly database: Database) {}

  /** In the order of the session, or the reverse one. */
  async ids(sessionId: string, range: SessionRunRange): Promise<string[]> {
    const { created, order, limit, offset } = range;
    const rows = await (isUnbounded(created)
      ? this.database.read<{ run_id: string }>(readIds[order], [sessionId, limit, offset])
      : this.database.read<{ run_id: string }>(readIdsBetween[order], [
          ...[sessionId, created.from, created.until],
          ...[limit, offset],
        ]));
    return rows.map((row) => row.run_id);
  }

  /** The last in the order of the session, the oldest of them first. */
  async lastIds(sessionId: string, count: number): Promise<string[]> {
    const rows = await this.database.read<{ run_id: string }>(readLastIds, [sessionId, count]);
    return rows.map((row) => row.run_id).reverse();
  }

  async first(sessionId: string, kind: RunKind, componentId: string): Promise<Run | undefined> {
    const [row] = await this.database.read<RunsTable>(readFirst, [sessionId, kind, componentId]);
    return row && runFromRow(row, await textsOf(this.database, [row]));
  }

  async hasAny(sessionId: string): Promise<boolean> {
    return (await this.database.read(readAny, [sessionId])).length > 0;
  }

  /** Whether a run of the session has ended or paused. */
  async hasRested(sessionId: string): Promise<boolean> {
    return (await this.database.read(readRested, [sessionId])).length > 0;
  }

  /** Runs that a process executes or is about to execute. */
  async open(sessionIds: readonly string[]): Promise<Run[]> {
    const rows = await this.database.read<RunsTable>(readOpen, [sessionIds]);
    return runsOf(this.database, rows);
  }

  /** The run of the session in which a member ran under this id, among those that were executed at the time. */
  async holderOf(sessionId: string, memberRunId: string, time: TimeBounds): Promise<string | undefined> {
    const text = `"runId":${JSON.stringify(memberRunId)}`;
    const parameters = [sessionId, time.until, time.from, text];
    return (await this.database.read<{ run_id: string }>(readHolder, parameters))[0]?.run_id;
  }

  /** Removes those of the sessions that are within the scope, with all that belongs to them. */
  remove(scope: DataScope, sessionIds: readonly string[], now: number): Promise<void> {
    return removeSessions(this.database, scope, sessionIds, now);
  }
}
