import { unpackSteps } from '../../../core/runs/journal/packed-journal.js';
import type { Run, RunStatus, StepRecord } from '../../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import type { PackedColumns, RunsTable, StepsTable } from '../tables.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { runColumns, runFromRow, stepColumns, stepFromRow } from './rows-store.js';
import { textsOf } from './text-store.js';

export interface RunWithSteps {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** The row of a run, and its steps unless they have rows of their own. */
export type LoadedRow = RunsTable & Pick<PackedColumns, 'packed_steps'>;

export const loadedList = [...runColumns, 'packed_steps'].join(', ');
const stepList = stepColumns.join(', ');

const statementsOf = ofTables(({ prefix, runs, steps }) => {
  const readRun = statement(`${prefix}run`, `SELECT ${loadedList} FROM ${runs} WHERE run_id = ?`);

  const readRuns: Statement = {
    name: `${prefix}runs`,
    sqlite: `SELECT ${loadedList} FROM ${runs} WHERE run_id IN (SELECT value FROM json_each(?))`,
    postgres: `SELECT ${loadedList} FROM ${runs} WHERE run_id = ANY($1::text[])`,
  };

  const readRunSteps = statement(
    `${prefix}run_steps`,
    `SELECT ${stepList} FROM ${steps} WHERE run_id = ? ORDER BY seq`,
  );

  const readSteps: Statement = {
    name: `${prefix}steps_of_runs`,
    sqlite: `SELECT ${stepList} FROM ${steps} WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY run_id, seq`,
    postgres: `SELECT ${stepList} FROM ${steps} WHERE run_id = ANY($1::text[]) ORDER BY run_id, seq`,
  };

  const readProgress = statement(
    `${prefix}run_progress`,
    `SELECT status, next_event_index FROM ${runs} WHERE run_id = ?`,
  );

  return { readRun, readRuns, readRunSteps, readSteps, readProgress };
});

/** Runs with their steps, as a journal has them. */
export class LoadedRunStore {
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(
    private readonly database: Database,
    private readonly tables: JournalTables = runTables,
  ) {
    this.#statements = statementsOf(tables);
  }

  async load(runId: string): Promise<RunWithSteps | undefined> {
    const { readRun, readRunSteps } = this.#statements;
    let [row] = await this.database.read<LoadedRow>(readRun, [runId]);
    while (row !== undefined) {
      if (row.packed_steps !== null) return (await this.withSteps([row]))[0];
      const steps = await this.database.read<StepsTable>(readRunSteps, [runId]);
      const texts = await textsOf(this.database, [row], steps, this.tables);
      // a run that continued or paused in between would be shown with steps that do not belong to its state
      const [now] = await this.database.read<LoadedRow>(readRun, [runId]);
      if (now?.attempt === row.attempt && now.status === row.status)
        return { run: runFromRow(row, texts), steps: steps.map((step) => stepFromRow(step, texts)) };
      row = now;
    }
    return undefined;
  }

  async loadAll(runIds: readonly string[]): Promise<RunWithSteps[]> {
    if (runIds.length === 0) return [];
    const rows = await this.database.read<LoadedRow>(this.#statements.readRuns, [runIds]);
    const runs = new Map((await this.withSteps(rows)).map((loaded) => [loaded.run.runId, loaded]));
    return runIds.flatMap((runId) => runs.get(runId) ?? []);
  }

  async progress(runId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined> {
    const [row] = await this.database.read<{ status: RunStatus; next_event_index: number }>(
      this.#statements.readProgress,
      [runId],
    );
    return row && { status: row.status, nextEventIndex: row.next_event_index };
  }

  /** A text that the run and its steps refer to is read once. */
  async withSteps(rows: readonly LoadedRow[]): Promise<RunWithSteps[]> {
    const apart = rows.filter((row) => row.packed_steps === null).map((row) => row.run_id);
    const stepRows =
      apart.length === 0 ? [] : await this.database.read<StepsTable>(this.#statements.readSteps, [apart]);
    const texts = await textsOf(this.database, rows, stepRows, this.tables);
    const steps = new Map<string, StepRecord[]>(apart.map((runId) => [runId, []]));
    for (const row of stepRows) steps.get(row.run_id)?.push(stepFromRow(row, texts));
    return rows.map((row) => {
      const { run_id: runId, packed_steps: packed } = row;
      const run = runFromRow(row, texts);
      return {
        run,
        steps: packed === null ? (steps.get(runId) ?? []) : unpackSteps(runId, packed, run.result),
      };
    });
  }
}
