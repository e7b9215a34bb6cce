import type {
  EventBlock,
  HistoryQuery,
  LeaseClaim,
  RefusedWrite,
  RunJournal,
  RunWrite,
  SessionSnapshot,
  SessionSummary,
} from '../../core/runs/ports.js';
import type { Run, RunKind, RunStatus, StepRecord } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { RunsTable, StepsTable } from '../../platform/storage/schema.js';
import { SessionStore } from '../sessions/store.js';
import { commitToPostgres } from './postgres-commit-store.js';
import { runColumns, runFromRow, stepColumns, stepFromRow } from './rows-store.js';
import { commitToSqlite } from './sqlite-commit-store.js';

/** Which runs a list holds. Runs inside other runs (members, workflow steps) are not listed. */
export interface RunFilter {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly sessionId?: string;
  readonly status?: RunStatus;
}

export interface RunPage extends RunFilter {
  readonly limit: number;
  readonly offset: number;
  /** By creation. */
  readonly order: 'asc' | 'desc';
}

export interface LatestRuns {
  readonly sessionIds: readonly string[];
  readonly componentId: string;
  /** How many of each session. */
  readonly count: number;
}

export interface RunWithSteps {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

const runList = runColumns.join(', ');
const stepList = stepColumns.join(', ');
/** The statuses in which a process has to hold the run. The indexes name them in the same words. */
const heldStatuses = ['pending', 'running'] as const;

/** Parameters of one statement are bounded. */
const renewedAtOnce = 500;

const readRun = statement('run', `SELECT ${runList} FROM runs WHERE run_id = ?`);

const readRunSteps = statement('run_steps', `SELECT ${stepList} FROM steps WHERE run_id = ? ORDER BY seq`);

const readSteps: Statement = {
  name: 'steps_of_runs',
  sqlite: `SELECT ${stepList} FROM steps WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY run_id, seq`,
  postgres: `SELECT ${stepList} FROM steps WHERE run_id = ANY($1::text[]) ORDER BY run_id, seq`,
};

const readProgress = statement('run_progress', 'SELECT status, next_event_index FROM runs WHERE run_id = ?');

// Blocks do not overlap: the one that holds an index is the last that begins at it or before.
const readEventBlocks: Statement = statement(
  'event_blocks',
  `SELECT first_index, event_count, payload FROM event_blocks
   WHERE run_id = ? AND first_index + event_count > ? AND first_index >= coalesce(
     (SELECT max(earlier.first_index) FROM event_blocks AS earlier WHERE earlier.run_id = ? AND earlier.first_index <= ?), 0)
   ORDER BY first_index LIMIT ?`,
);

const readHistory = statement(
  'run_history',
  `SELECT ${runList} FROM runs
   WHERE session_id = ? AND component_id = ? AND status = 'completed' AND created_at <= ? AND run_id <> ?
     AND parent_run_id IS NULL
   ORDER BY created_at DESC, run_id DESC LIMIT ?`,
);

const latestOfSession = (parameters: string[]) => `
  SELECT inner_runs.run_id FROM runs AS inner_runs
  WHERE inner_runs.session_id = wanted.value AND inner_runs.component_id = ${parameters[0]}
    AND inner_runs.status = 'completed' AND inner_runs.parent_run_id IS NULL
    AND (${parameters[1]} IS NULL OR inner_runs.user_id = ${parameters[2]})
  ORDER BY inner_runs.created_at DESC, inner_runs.run_id DESC LIMIT ${parameters[3]}`;

// A few rows from the end of each session, however long the sessions are.
const readLatestOfSessions: Statement = {
  name: 'latest_runs_of_sessions',
  sqlite: `SELECT ${runList} FROM json_each(?1) AS wanted CROSS JOIN runs
    WHERE run_id IN (${latestOfSession(['?2', '?3', '?4', '?5'])})
    ORDER BY created_at DESC, run_id DESC`,
  postgres: `SELECT ${runList} FROM unnest($1::text[]) AS wanted(value)
    CROSS JOIN LATERAL (${latestOfSession(['$2', '$3::text', '$4', '$5'])}) AS latest JOIN runs USING (run_id)
    ORDER BY created_at DESC, run_id DESC`,
};

const readExpired = statement(
  'expired_runs',
  `SELECT ${runList} FROM runs
   WHERE status IN ('pending', 'running') AND coalesce(lease_expires_at, 0) <= ?
   ORDER BY created_at, run_id LIMIT ? OFFSET ?`,
);

const readLeaseOwners = statement(
  'lease_owners',
  `SELECT DISTINCT lease_owner FROM runs WHERE status IN ('pending', 'running') AND lease_owner IS NOT NULL`,
);

/** Runs, their journal and their events, in one database. */
export class RunStore implements RunJournal {
  readonly #sessions: SessionStore;

  constructor(private readonly database: Database) {
    this.#sessions = new SessionStore(database);
  }

  async commit(writes: readonly RunWrite[]): Promise<readonly RefusedWrite[]> {
    if (writes.length === 0) return [];
    const whole = writes.map(withUpdatedInsert);
    return this.database.dialect === 'sqlite'
      ? commitToSqlite(this.database, whole)
      : commitToPostgres(this.database, whole);
  }

  async load(runId: string): Promise<RunWithSteps | undefined> {
    const [row] = await this.database.read<RunsTable>(readRun, [runId]);
    if (row === undefined) return undefined;
    const steps = await this.database.read<StepsTable>(readRunSteps, [runId]);
    return { run: runFromRow(row), steps: steps.map(stepFromRow) };
  }

  async eventBlocks(runId: string, fromIndex: number, limit: number): Promise<readonly EventBlock[]> {
    const rows = await this.database.read<{ first_index: number; event_count: number; payload: string }>(
      readEventBlocks,
      [runId, fromIndex, runId, fromIndex, limit],
    );
    return rows.map((row) => ({ firstIndex: row.first_index, count: row.event_count, payload: row.payload }));
  }

  async progress(runId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined> {
    const [row] = await this.database.read<{ status: RunStatus; next_event_index: number }>(readProgress, [
      runId,
    ]);
    return row && { status: row.status, nextEventIndex: row.next_event_index };
  }

  async history({
    sessionId,
    componentId,
    before,
    count,
    exceptRunId,
  }: HistoryQuery): Promise<RunWithSteps[]> {
    const rows = await this.database.read<RunsTable>(readHistory, [
      sessionId,
      componentId,
      before,
      exceptRunId,
      count,
    ]);
    const steps = await this.steps(rows.map((row) => row.run_id));
    return rows.reverse().map((row) => ({ run: runFromRow(row), steps: steps.get(row.run_id) ?? [] }));
  }

  session(sessionId: string): Promise<SessionSnapshot | undefined> {
    return this.#sessions.snapshot(sessionId);
  }

  summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#sessions.summary(sessionId);
  }

  async expired(now: number, limit: number, passed: number): Promise<readonly Run[]> {
    return (await this.database.read<RunsTable>(readExpired, [now, limit, passed])).map(runFromRow);
  }

  async leaseOwners(): Promise<readonly string[]> {
    const rows = await this.database.read<{ lease_owner: string }>(readLeaseOwners, []);
    return rows.map((row) => row.lease_owner);
  }

  async claim({ runId, attempt, owner, now, expiresAt }: LeaseClaim): Promise<Run | undefined> {
    const row = await this.database.query
      .updateTable('runs')
      .set({ attempt: attempt + 1, lease_owner: owner, lease_expires_at: expiresAt, updated_at: now })
      .where('run_id', '=', runId)
      .where('attempt', '=', attempt)
      // A run that ended in the meantime is nobody's to take over.
      .where('status', 'in', [...heldStatuses, 'paused'])
      .where((where) =>
        where.or([where('lease_expires_at', '<=', now), where('lease_expires_at', 'is', null)]),
      )
      .returning(runColumns)
      .executeTakeFirst();
    return row && runFromRow(row);
  }

  async renewLeases(owner: string, runIds: readonly string[], expiresAt: number): Promise<void> {
    for (let at = 0; at < runIds.length; at += renewedAtOnce) {
      const some = runIds.slice(at, at + renewedAtOnce);
      await this.database.query
        .updateTable('runs')
        .set({ lease_expires_at: expiresAt })
        .where('run_id', 'in', this.#lockedRunsOf(owner).where('run_id', 'in', some))
        .execute();
    }
  }

  async releaseLeases(owner: string): Promise<void> {
    await this.database.query
      .updateTable('runs')
      .set({ lease_owner: null, lease_expires_at: null })
      .where('run_id', 'in', this.#lockedRunsOf(owner))
      .execute();
  }

  /** A run that a caller may see. */
  async find(scope: DataScope, runId: string): Promise<Run | undefined> {
    let query = this.database.query.selectFrom('runs').select(runColumns).where('run_id', '=', runId);
    if (scope.kind === 'user') query = query.where('user_id', '=', scope.userId);
    const row = await query.executeTakeFirst();
    return row && runFromRow(row);
  }

  async list(scope: DataScope, page: RunPage): Promise<Run[]> {
    const rows = await this.#filtered(scope, page)
      .select(runColumns)
      .orderBy('created_at', page.order)
      .orderBy('run_id', page.order)
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    return rows.map(runFromRow);
  }

  async count(scope: DataScope, filter: RunFilter): Promise<number> {
    const row = await this.#filtered(scope, filter)
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** The last completed runs of a component in each of these sessions, by session id, oldest first. */
  async latestOfSessions(
    scope: DataScope,
    { sessionIds, componentId, count }: LatestRuns,
  ): Promise<ReadonlyMap<string, readonly Run[]>> {
    const runs = new Map<string, Run[]>(sessionIds.map((sessionId) => [sessionId, []]));
    if (sessionIds.length === 0) return runs;
    const user = scope.kind === 'user' ? scope.userId : null;
    const parameters = [sessionIds, componentId, user, user, count];
    for (const row of await this.database.read<RunsTable>(readLatestOfSessions, parameters)) {
      runs.get(row.session_id)?.unshift(runFromRow(row));
    }
    return runs;
  }

  /** The steps of runs that were read before, by run id, in their order. */
  async steps(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly StepRecord[]>> {
    const steps = new Map<string, StepRecord[]>(runIds.map((runId) => [runId, []]));
    if (runIds.length === 0) return steps;
    for (const row of await this.database.read<StepsTable>(readSteps, [runIds])) {
      steps.get(row.run_id)?.push(stepFromRow(row));
    }
    return steps;
  }

  #filtered(scope: DataScope, { kind, componentId, sessionId, status }: RunFilter) {
    let query = this.database.query
      .selectFrom('runs')
      .where('kind', '=', kind)
      .where('component_id', '=', componentId)
      .where('parent_run_id', 'is', null);
    if (scope.kind === 'user') query = query.where('user_id', '=', scope.userId);
    if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
    if (status !== undefined) query = query.where('status', '=', status);
    return query;
  }

  #lockedRunsOf(owner: string) {
    const runs = this.database.query
      .selectFrom('runs')
      .select('run_id')
      .where('lease_owner', '=', owner)
      // As text of the query, not as parameters: only so the planner knows that the index holds all of them.
      .where(
        'status',
        'in',
        heldStatuses.map((status) => queryBuilder().sql.lit(status)),
      );
    if (this.database.dialect === 'sqlite') return runs;
    // Locked in the order of the ids, as commits do: two that wait for each other would be a deadlock.
    return runs.orderBy('run_id').forNoKeyUpdate();
  }
}

/** A run that is created and goes on in the same write is created as what it has become. */
function withUpdatedInsert(write: RunWrite): RunWrite {
  const { insert, update } = write;
  return insert && update ? { ...write, insert: { ...insert, ...update }, update: undefined } : write;
}
