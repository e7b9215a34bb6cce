import type { OrphanJournal } from '../../core/runs/ending-executable.js';
import type { Run, RunKind } from '../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import type { RunsTable } from '../../platform/storage/schema.js';
import { runColumns, runFromRow } from './rows-store.js';

const runList = runColumns.join(', ');

// One part for each index. A run counts from its last sign of life: its lease, or what was written last.
const orphaned = (isOneOf: string, open: string) => `
  SELECT ${runList} FROM (
    SELECT ${runList} FROM runs
    WHERE ${open} AND updated_at <= ? AND NOT (kind || ' ' || component_id) ${isOneOf}
    LIMIT ?
  ) AS found`;

const abandoned = `status IN ('pending', 'running') AND coalesce(lease_expires_at, 0) <= ?`;
const overdue = `status = 'paused' AND wake_at IS NOT NULL AND wake_at <= ?`;

const readAbandoned = withList('orphaned_abandoned_runs', abandoned);
const readOverdue = withList('orphaned_overdue_runs', overdue);

// From one component to the next along the index: as many steps as there are components, however many runs wait.
const readPausedComponents = statement(
  'components_of_paused_runs',
  `WITH RECURSIVE found (kind, component_id) AS (
     SELECT * FROM (
       SELECT kind, component_id FROM runs WHERE status = 'paused' ORDER BY kind, component_id LIMIT 1
     ) AS first_one
     UNION ALL
     SELECT next_one.kind, next_one.component_id FROM found, runs AS next_one
     WHERE next_one.run_id = (
       SELECT run_id FROM runs WHERE status = 'paused' AND (kind, component_id) > (found.kind, found.component_id)
       ORDER BY kind, component_id LIMIT 1
     )
   )
   SELECT kind, component_id FROM found`,
);

const countPaused = statement(
  'paused_runs_of_component',
  `SELECT count(*) AS number FROM (
     SELECT 1 FROM runs WHERE status = 'paused' AND kind = ? AND component_id = ? LIMIT ?
   ) AS counted`,
);

const countAbandoned = statement(
  'abandoned_runs_by_component',
  `SELECT kind, component_id, count(*) AS number FROM (
     SELECT kind, component_id FROM runs WHERE ${abandoned} LIMIT ?
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
  constructor(private readonly database: Database) {}

  async orphaned(components: readonly string[], before: number, limit: number): Promise<Run[]> {
    const parameters = [before, before, components, limit];
    const found = await Promise.all([
      this.database.read<RunsTable>(readAbandoned, parameters),
      this.database.read<RunsTable>(readOverdue, parameters),
    ]);
    return found.flat().slice(0, limit).map(runFromRow);
  }

  /** Paused runs, and those whose lease ended, of components for which `isMissing` holds. */
  async counts(now: number, isMissing: (kind: RunKind, id: string) => boolean): Promise<WaitingRuns[]> {
    const counts: WaitingRuns[] = [];
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

function withList(name: string, open: string): Statement {
  return {
    name,
    sqlite: orphaned('IN (SELECT value FROM json_each(?))', open),
    postgres: statement('', orphaned('= ANY(?::text[])', open)).postgres,
  };
}
