import type { CancelRequest } from '../../../core/runs/journal/ports.js';
import type { OrphanJournal } from '../../../core/runs/resume/ending-executable.js';
import type { Run, RunKind } from '../../../core/runs/run.js';
import { type Database, type Statement, statement, timeOf } from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { CancellationStore } from './cancellation-store.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { runColumns } from './rows-store.js';
import { isLeased, isWaiting, runsOf } from './run-list-store.js';

const runList = runColumns.join(', ');

const abandoned = `${isLeased} AND coalesce(lease_expires_at, 0) <= ?`;
const overdue = `status = 'paused' AND wake_at IS NOT NULL AND wake_at <= ? AND updated_at <= ?`;

// One part for each index. A run counts from its last sign of life: its lease, which every write of its process
// prolongs, or without one what was written last.
const statementsOf = ofTables(({ prefix, runs }) => {
  const orphaned = (isOneOf: string, open: string) => `
    SELECT ${runList} FROM (
      SELECT ${runList} FROM ${runs}
      WHERE ${open} AND NOT (kind || ' ' || component_id) ${isOneOf}
      LIMIT ?
    ) AS found`;
  const withList = (name: string, open: string): Statement => ({
    name: prefix + name,
    sqlite: orphaned('IN (SELECT value FROM json_each(?))', open),
    postgres: statement('', orphaned('= ANY(?::text[])', open)).postgres,
  });
  return {
    readAbandoned: withList('orphaned_abandoned_runs', abandoned),
    readWaiting: withList('orphaned_waiting_runs', `${isWaiting} AND updated_at <= ?`),
    readOverdue: withList('orphaned_overdue_runs', overdue),
  };
});

// In the words of its index, which nothing else is to use.
const paused = `status = 'paused' AND parent_run_id IS NULL`;

// From one component to the next along the index: as many steps as there are components, however many runs wait.
const pausedComponents = (nextOne: string) =>
  `WITH RECURSIVE found (kind, component_id) AS (
     SELECT CAST('' AS text), CAST('' AS text)
     UNION ALL
     SELECT next_one.kind, next_one.component_id FROM found ${nextOne}
   )
   SELECT kind, component_id FROM found WHERE kind <> ''`;

const nextPaused = (column: string) => `
  SELECT ${column} FROM runs WHERE ${paused} AND (kind, component_id) > (found.kind, found.component_id)
  ORDER BY kind, component_id LIMIT 1`;

const readPausedComponents: Statement = {
  name: 'components_of_paused_runs',
  sqlite: pausedComponents(`JOIN runs AS next_one ON next_one.run_id = (${nextPaused('run_id')})`),
  postgres: pausedComponents(`CROSS JOIN LATERAL (${nextPaused('kind, component_id')}) AS next_one`),
};

const countPaused = statement(
  'paused_runs_of_component',
  `SELECT count(*) AS number FROM (
     SELECT 1 FROM runs WHERE ${paused} AND kind = ? AND component_id = ? LIMIT ?
   ) AS counted`,
);

const countAbandoned = statement(
  'abandoned_runs_by_component',
  `SELECT kind, component_id, count(*) AS number FROM (
     SELECT kind, component_id FROM runs WHERE ${abandoned}
     UNION ALL SELECT kind, component_id FROM runs WHERE ${isWaiting} LIMIT ?
   ) AS counted GROUP BY kind, component_id`,
);

/** How far runs are counted: beyond it the number says "at least". */
const countedRuns = 10_000;

/** Runs that wait for a component. */
export interface WaitingRuns {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly count: number;
}

interface CountRow {
  readonly kind: RunKind;
  readonly component_id: string;
  readonly number: number | string;
}

/** Finds and counts the runs of components that a process does not have. */
export class OrphanStore implements OrphanJournal {
  readonly #cancellations: CancellationStore;

  constructor(
    private readonly database: Database,
    private readonly tables: JournalTables = runTables,
  ) {
    this.#cancellations = new CancellationStore(database, tables);
  }

  cancellations(components: readonly string[]): Promise<CancelRequest[]> {
    return this.#cancellations.exceptOf(components);
  }

  async orphaned(components: readonly string[], before: number, limit: number): Promise<Run[]> {
    const { readAbandoned, readWaiting, readOverdue } = statementsOf(this.tables);
    const parameters = [before, components, limit];
    const found = await Promise.all([
      this.database.read<RunsTable>(readAbandoned, parameters),
      this.database.read<RunsTable>(readWaiting, parameters),
      this.database.read<RunsTable>(readOverdue, [before, ...parameters]),
    ]);
    return runsOf(this.database, found.flat().slice(0, limit), this.tables);
  }

  /** Paused runs, and those whose lease ended, of components for which `isMissing` holds. */
  async counts(isMissing: (kind: RunKind, id: string) => boolean): Promise<WaitingRuns[]> {
    const counts: WaitingRuns[] = [];
    const now = await timeOf(this.database);
    for (const row of await this.database.read<CountRow>(countAbandoned, [now, countedRuns])) {
      const { kind, component_id: componentId } = row;
      if (isMissing(kind, componentId)) counts.push({ kind, componentId, count: Number(row.number) });
    }
    for (const { kind, component_id: componentId } of await this.database.read<CountRow>(
      readPausedComponents,
      [],
    )) {
      if (!isMissing(kind, componentId)) continue;
      const [row] = await this.database.read<CountRow>(countPaused, [kind, componentId, countedRuns]);
      counts.push({ kind, componentId, count: Number(row?.number ?? 0) });
    }
    return counts;
  }
}
