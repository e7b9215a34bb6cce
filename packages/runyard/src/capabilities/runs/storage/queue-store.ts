import { FairQueue, type InLine } from '../../../core/collections/fair-queue.js';
import { priorities } from '../../../core/runs/leases/priority.js';
import type { HeldRun } from '../../../core/runs/leases/run-leases.js';
import type { RunQueue } from '../../../core/runs/leases/run-queue.js';
import type { Run } from '../../../core/runs/run.js';
import {
  type Database,
  type Statement,
  statement,
  timedStatement,
} from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { runColumns, type StoredWrite } from './rows-store.js';
import { isHeld, isLeased, isWaiting, type Page, runList, runsOf } from './run-list-store.js';

// In the words of the indexes.
const isAhead = `ahead.status IN ('pending', 'running') AND coalesce(ahead.lease_expires_at, 0) = 0`;

/** The turn of the run that is next in line, among those that are as urgent as `row`. */
export function nextTurn({ runs }: JournalTables, row: string): string {
  return `(SELECT ahead.queue_turn FROM ${runs} AS ahead
    WHERE ${isAhead} AND ahead.priority = ${row}.priority
    ORDER BY ahead.queue_turn LIMIT 1)`;
}

/**
 * When it is the turn of a run that begins to wait. Runs of one user and component have one turn after the other, and
 * the first of them has that of the next in line. So the first runs in the order of their turns are those of all users
 * and components, however many one of them has queued, and the claiming process looks at those only.
 */
export function queueTurn(tables: JournalTables, row: string): string {
  const { runs } = tables;
  return `coalesce(
    (SELECT ahead.queue_turn + 1 FROM ${runs} AS ahead
      WHERE ${isAhead} AND ahead.priority = ${row}.priority
        AND coalesce(ahead.user_id, '') = coalesce(${row}.user_id, '')
        AND ahead.kind = ${row}.kind AND ahead.component_id = ${row}.component_id AND ahead.queue_turn >= 0
      ORDER BY ahead.queue_turn DESC LIMIT 1),
    ${nextTurn(tables, row)}, 0)`;
}

/** How many runs of the same user, component and priority come before each waiting run of a batch. */
export function turnsOf(writes: readonly StoredWrite[]): ReadonlyMap<string, number> {
  const turns = new Map<string, number>();
  const ahead = new Map<string, number>();
  for (const { write } of writes) {
    const { runId, insert } = write;
    if (!insert || insert.leaseOwner !== null) continue;
    const { userId, kind, componentId, input } = insert;
    const line = JSON.stringify([userId, kind, componentId, input.options.priority]);
    const turn = ahead.get(line) ?? 0;
    turns.set(runId, turn);
    ahead.set(line, turn + 1);
  }
  return turns;
}

/** Of how many waiting runs, for each that is asked for and at least, the next ones are chosen. */
const lookedAt = { each: 8, least: 64 };

interface WaitingRow {
  run_id: string;
  user_id: string | null;
  component: string;
  priority: number;
  queue_turn: number;
  created_at: number;
  updated_at: number;
  now: number;
}

type ExecutedRow = Pick<WaitingRow, 'user_id' | 'component'> & { executing: number };

// In the words of its index, which has them in this order: as many rows are read as are asked for.
const waitingStatements = ofTables(({ prefix, runs }) => {
  const ofLevel = (now: string, filter: string) => (level: number) =>
    `
    SELECT * FROM (
      SELECT run_id, user_id, kind || ' ' || component_id AS component, priority, queue_turn,
        created_at, updated_at, ${now} AS now
      FROM ${runs}
      WHERE ${isWaiting} AND priority = ${level}${filter}
      ORDER BY queue_turn, created_at, run_id LIMIT ?
    ) AS level_${level}`;
  const sql = (filter: string) => (now: string) =>
    Array.from(priorities.keys(), ofLevel(now, filter)).join(' UNION ALL ');
  const isOneOf = (list: string) => sql(` AND kind || ' ' || component_id ${list}`);
  const readAll = timedStatement(`${prefix}waiting_runs`, sql(''));
  const readSome: Statement = {
    name: `${prefix}waiting_runs_of`,
    sqlite: timedStatement('', isOneOf('IN (SELECT value FROM json_each(?))')).sqlite,
    postgres: timedStatement('', isOneOf('= ANY(?::text[])')).postgres,
  };
  const readExecuted = statement(
    `${prefix}executed_runs`,
    `SELECT user_id, kind || ' ' || component_id AS component, count(*) AS executing FROM ${runs}
     WHERE ${isLeased}
     GROUP BY user_id, kind, component_id`,
  );
  const readRuns: Statement = {
    name: `${prefix}next_runs`,
    sqlite: `SELECT ${runColumns.join(', ')} FROM ${runs} WHERE run_id IN (SELECT value FROM json_each(?))`,
    postgres: `SELECT ${runColumns.join(', ')} FROM ${runs} WHERE run_id = ANY($1::text[])`,
  };
  return { readAll, readSome, readExecuted, readRuns };
});

const readDue = runList(
  'runs_to_wake',
  (now) => `status = 'paused' AND wake_at IS NOT NULL AND wake_at <= ${now}`,
  'wake_at, run_id',
);

const readStillWaiting = ofTables(
  ({ prefix, runs }): Statement => ({
    name: `${prefix}runs_still_waiting`,
    sqlite: `SELECT run_id, attempt FROM ${runs}
      WHERE run_id IN (SELECT value FROM json_each(?)) AND ${isHeld} AND lease_owner IS NULL`,
    postgres: `SELECT run_id, attempt FROM ${runs}
      WHERE run_id = ANY($1::text[]) AND ${isHeld} AND lease_owner IS NULL`,
  }),
);

/** The queue as the rows of the runs: a run that is stored without a lease waits. */
export class QueueStore implements RunQueue {
  constructor(
    private readonly database: Database,
    private readonly tables: JournalTables = runTables,
  ) {}

  async waiting(limit: number, passed: number, of?: readonly string[]): Promise<Run[]> {
    if (of?.length === 0) return [];
    const { readAll, readSome, readRuns } = waitingStatements(this.tables);
    const rowsOfLevel = passed + Math.max(lookedAt.least, lookedAt.each * limit);
    const levels = [...priorities.keys()];
    const rows = await (of === undefined
      ? this.database.read<WaitingRow>(
          readAll,
          levels.map(() => rowsOfLevel),
        )
      : this.database.read<WaitingRow>(
          readSome,
          levels.flatMap(() => [of, rowsOfLevel]),
        ));
    const ids = (await this.fairly(rows, passed + limit)).slice(passed);
    if (ids.length === 0) return [];
    const found = await this.database.read<RunsTable>(readRuns, [ids]);
    const runs = new Map(
      (await runsOf(this.database, found, this.tables)).map((run) => [run.runId, run] as const),
    );
    // one that has ended in between is no longer there
    return ids.flatMap((id) => runs.get(id) ?? []);
  }

  /** The ids of the first `count` of the waiting runs, in fair order. */
  private async fairly(rows: readonly WaitingRow[], count: number): Promise<string[]> {
    const line = new FairQueue<InLine & { readonly runId: string }>(priorities.length - 1);
    const users = new Set(rows.map(({ user_id }) => user_id));
    const components = new Set(rows.map(({ component }) => component));
    // what is executed decides only between users, or between the components of one
    if (users.size > 1 || components.size > 1)
      for (const { user_id: userId, component, executing } of await this.executed())
        line.began({ userId, component }, Number(executing));
    for (const row of [...rows].sort((left, right) => left.created_at - right.created_at)) {
      const { run_id: runId, user_id: userId, component, priority: level, queue_turn: turn } = row;
      line.add({ runId, userId, component, level, turn, since: row.updated_at, order: row.created_at });
    }
    const now = rows[0]?.now ?? 0;
    const ids: string[] = [];
    while (ids.length < count) {
      const next = line.take(now);
      if (next === undefined) break;
      ids.push(next.runId);
    }
    return ids;
  }

  private executed(): Promise<ExecutedRow[]> {
    return this.database.read<ExecutedRow>(waitingStatements(this.tables).readExecuted, []);
  }

  due(...page: Page): Promise<Run[]> {
    return readDue(this.database, this.tables, page);
  }

  async noLongerWaiting(waiting: readonly HeldRun[]): Promise<string[]> {
    const ids = waiting.map(({ runId }) => runId);
    const rows = await this.database.read<{ run_id: string; attempt: number }>(
      readStillWaiting(this.tables),
      [ids],
    );
    const stillThere = new Map(rows.map((row) => [row.run_id, row.attempt]));
    return waiting
      .filter(({ runId, attempt }) => stillThere.get(runId) !== attempt)
      .map(({ runId }) => runId);
  }
}
