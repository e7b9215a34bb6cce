import type {
  CancelRequest,
  EventBlock,
  HistoryQuery,
  IdempotencyKey,
  RefusedWrite,
  RunJournal,
  RunWrite,
  SessionSnapshot,
  SessionSummary,
  StartedUnderKey,
  StoredText,
} from '../../../core/runs/journal/ports.js';
import type { ReceivedEvents } from '../../../core/runs/journal/received-events.js';
import type { RunLeases } from '../../../core/runs/leases/run-leases.js';
import type { RunQueue } from '../../../core/runs/leases/run-queue.js';
import type { Run, RunKind, RunStatus } from '../../../core/runs/run.js';
import type { DataScope } from '../../../platform/auth/caller.js';
import {
  type Database,
  type ListReads,
  type Statement,
  statement,
} from '../../../platform/storage/database.js';
import { queryBuilder } from '../../../platform/storage/query-builder.js';
import { ownerParameters, scopedStatement, within } from '../../../platform/storage/scope.js';
import { SessionStore } from '../../sessions/store.js';
import type { RunsTable } from '../tables.js';
import { CancellationStore } from './cancellation-store.js';
import { type CommitOptions, commitRuns } from './commit-store.js';
import { EventStore } from './event-store.js';
import { runUnderKey } from './idempotency-store.js';
import { LeaseStore } from './lease-store.js';
import { type LoadedRow, LoadedRunStore, loadedList, type RunWithSteps } from './loaded-run-store.js';
import { QueueStore } from './queue-store.js';
import { ReceivedEventStore } from './received-events-store.js';
import { runColumns, runFromRow } from './rows-store.js';
import { runsOf } from './run-list-store.js';
import { copySession, type SessionCopy } from './session-copy-store.js';
import { longTexts, textParts, textsOf } from './text-store.js';

/** Which runs a list holds. Runs inside other runs (members, workflow steps) are not listed. */
export interface RunFilter {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly sessionId?: string;
  readonly status?: RunStatus;
  /** Only runs that changed after this time. */
  readonly changedAfter?: number;
  /** Only runs that come before this one: those of the next page, newest first. */
  readonly before?: RunCursor;
}

/** The place of a run in a list by creation. */
export interface RunCursor {
  readonly createdAt: number;
  readonly runId: string;
}

export interface RunPage extends RunFilter {
  readonly limit: number;
  readonly offset: number;
  /** By creation, or within a session by the order of the session. */
  readonly order: 'asc' | 'desc';
}

export interface LatestRuns {
  readonly sessionIds: readonly string[];
  readonly componentId: string;
  /** How many of each session. */
  readonly count: number;
}

const runList = runColumns.join(', ');

const readUnended = statement(
  'unended_runs',
  `SELECT run_id FROM runs
   WHERE run_id > ? AND status IN ('pending', 'running', 'paused') AND parent_run_id IS NULL
   ORDER BY run_id LIMIT ?`,
);

/** No session has so many runs. */
const beyondAll = 2 ** 31 - 1;

// One that is not stored yet will come after all that are.
const historyOf = (whose: string) => `
  SELECT ${loadedList} FROM runs
   WHERE session_id = ? AND ${whose} AND status = 'completed' AND parent_run_id IS NULL
     AND session_seq < coalesce(
       (SELECT min(own.session_seq) FROM runs AS own WHERE own.session_id = ? AND own.run_id IN (?, ?)), ${beyondAll})
   ORDER BY session_seq DESC, run_id DESC LIMIT ?`;

// The order of the session is followed: the plus signs keep SQLite from all runs of the component.
const readHistory: Statement = {
  ...statement('run_history', historyOf('component_id = ? AND kind = ?')),
  sqlite: historyOf('+component_id = ? AND +kind = ?'),
};
const readSessionHistory = statement('session_history', historyOf("kind IN ('agent', 'team')"));

const latestOfSession = (owned: string) => `
  SELECT inner_runs.run_id FROM runs AS inner_runs
  WHERE inner_runs.session_id = wanted.value AND inner_runs.component_id = ?
    AND inner_runs.status = 'completed' AND inner_runs.parent_run_id IS NULL${owned}
  ORDER BY inner_runs.session_seq DESC, inner_runs.run_id DESC LIMIT ?`;

// A few rows from the end of each session, however long the sessions are.
const readLatestOfSessions = scopedStatement(
  'latest_runs_of_sessions',
  'inner_runs.user_id',
  (owned, dialect) =>
    dialect === 'sqlite'
      ? `SELECT ${runList} FROM json_each(?) AS wanted CROSS JOIN runs
         WHERE run_id IN (${latestOfSession(owned)}) ORDER BY session_seq DESC, run_id DESC`
      : `SELECT ${runList} FROM unnest(?::text[]) AS wanted(value)
         CROSS JOIN LATERAL (${latestOfSession(owned)}) AS latest JOIN runs USING (run_id)
         ORDER BY session_seq DESC, run_id DESC`,
);

/** Runs, their journal and their events, in one database. */
export class RunStore implements RunJournal {
  readonly leases: RunLeases;
  readonly queue: RunQueue;
  readonly receivedEvents: ReceivedEvents;
  readonly #sessions: SessionStore;
  readonly #loaded: LoadedRunStore;
  readonly #events: EventStore;
  readonly #cancellations: CancellationStore;

  constructor(
    private readonly database: Database,
    private readonly options: CommitOptions = { traces: true },
  ) {
    this.#sessions = new SessionStore(database);
    this.#loaded = new LoadedRunStore(database);
    this.#events = new EventStore(database);
    this.leases = new LeaseStore(database);
    this.queue = new QueueStore(database);
    this.receivedEvents = new ReceivedEventStore(database);
    this.#cancellations = new CancellationStore(database);
  }

  commit(writes: readonly RunWrite[]): Promise<readonly RefusedWrite[]> {
    return commitRuns(this.database, writes, this.options);
  }

  load(runId: string): Promise<RunWithSteps | undefined> {
    return this.#loaded.load(runId);
  }

  loadAll(runIds: readonly string[]): Promise<RunWithSteps[]> {
    return this.#loaded.loadAll(runIds);
  }

  /** The ids of runs that have not ended, in their order, those that come after `after`. */
  async unended(after: string, limit: number): Promise<string[]> {
    const rows = await this.database.read<{ run_id: string }>(readUnended, [after, limit]);
    return rows.map((row) => row.run_id);
  }

  eventBlocks(runId: string, fromIndex: number, limit: number): Promise<readonly EventBlock[]> {
    return this.#events.blocks(runId, fromIndex, limit);
  }

  longTexts(runId: string): Promise<readonly StoredText[]> {
    return longTexts(this.database, runId);
  }

  textParts(runId: string, textId: string, from: number, limit: number): Promise<readonly string[]> {
    return textParts(this.database, runId, textId, from, limit);
  }

  countEvents(runId: string, fromIndex: number, toIndex: number): Promise<number> {
    return this.#events.count(runId, fromIndex, toIndex);
  }

  progress(runId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined> {
    return this.#loaded.progress(runId);
  }

  async history(query: HistoryQuery): Promise<RunWithSteps[]> {
    const { sessionId, kind, componentId, from, runId, copyOf, count } = query;
    const own = [sessionId, runId, copyOf ?? runId];
    const rows = await (from === 'session'
      ? this.database.read<LoadedRow>(readSessionHistory, [sessionId, ...own, count])
      : this.database.read<LoadedRow>(readHistory, [sessionId, componentId, kind, ...own, count]));
    return this.#loaded.withSteps(rows.reverse());
  }

  session(sessionId: string): Promise<SessionSnapshot | undefined> {
    return this.#sessions.snapshot(sessionId);
  }

  summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#sessions.summary(sessionId);
  }

  requestCancellation(request: CancelRequest): Promise<void> {
    return this.#cancellations.request(request);
  }

  cancellations(since: number): Promise<readonly CancelRequest[]> {
    return this.#cancellations.open(since);
  }

  cancellation(runId: string, since: number): Promise<CancelRequest | undefined> {
    return this.#cancellations.ofRun(runId, since);
  }

  idempotentRun(key: IdempotencyKey, since: number): Promise<StartedUnderKey | undefined> {
    return runUnderKey(this.database, key, since);
  }

  /** Copies a session that the caller was found to own. Returns the number of runs in the copy; 0: no session. */
  copySession(copy: SessionCopy): Promise<number> {
    return copySession(this.database, copy);
  }

  /** A run that a caller may see. */
  async find(scope: DataScope, runId: string): Promise<Run | undefined> {
    const named = this.database.query.selectFrom('runs').select(runColumns).where('run_id', '=', runId);
    const row = await within(named, scope, 'user_id').executeTakeFirst();
    return row && runFromRow(row, await textsOf(this.database, [row]));
  }

  /** As a list shows them: a replica may not have the newest. */
  listedIds(scope: DataScope, page: RunPage): Promise<string[]> {
    return this.ids(scope, page, this.database.lists);
  }

  async ids(scope: DataScope, page: RunPage, reads: ListReads = this.database): Promise<string[]> {
    const rows = await this.#filtered(scope, page, reads)
      .select('run_id')
      .orderBy(page.sessionId === undefined ? 'created_at' : 'session_seq', page.order)
      .orderBy('run_id', page.order)
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    return rows.map((row) => row.run_id);
  }

  async count(scope: DataScope, filter: RunFilter): Promise<number> {
    const row = await this.#filtered(scope, filter, this.database)
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
    const parameters = [sessionIds, componentId, ...ownerParameters(scope), count];
    const rows = await this.database.read<RunsTable>(readLatestOfSessions(scope), parameters);
    for (const run of await runsOf(this.database, rows)) runs.get(run.sessionId)?.unshift(run);
    return runs;
  }

  #filtered(scope: DataScope, filter: RunFilter, reads: ListReads) {
    const { kind, componentId, sessionId, status, changedAfter, before } = filter;
    const { sql } = queryBuilder();
    // within a session its order is followed: a plus sign keeps SQLite from all runs of the component
    const isHidden = sessionId !== undefined && this.database.dialect === 'sqlite';
    const column = (name: 'kind' | 'component_id') =>
      isHidden ? sql<string>`+${sql.ref(name)}` : sql.ref<string>(name);
    const all = reads.query
      .selectFrom('runs')
      .where(column('kind'), '=', kind)
      .where(column('component_id'), '=', componentId)
      .where('parent_run_id', 'is', null);
    let query = within(all, scope, 'user_id');
    if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
    if (status !== undefined) query = query.where('status', '=', status);
    if (changedAfter !== undefined) query = query.where('updated_at', '>', changedAfter);
    if (before === undefined) return query;
    const { createdAt, runId } = before;
    if (sessionId !== undefined)
      return query.where('session_seq', '<', ({ selectFrom }) =>
        selectFrom('runs as last').select('last.session_seq').where('last.run_id', '=', runId),
      );
    return query.where(({ eb, and, or }) =>
      or([
        eb('created_at', '<', createdAt),
        and([eb('created_at', '=', createdAt), eb('run_id', '<', runId)]),
      ]),
    );
  }
}
