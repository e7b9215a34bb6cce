import type { RunLineage } from '../../../core/runs/run.js';
import { type Database, type RunStatement, statement } from '../../../platform/storage/database.js';
import { storedJsonOrNull } from '../../../platform/storage/text.js';
import { type CopiedSession, copySessionRows } from '../../sessions/copy-store.js';
import type { RunsTable } from '../tables.js';
import { runColumns, stepColumns } from './rows-store.js';

export interface SessionCopy extends CopiedSession {
  /** Only the runs that began before this one. */
  readonly beforeRunId?: string | undefined;
  newRunId(): string;
}

type SourceRun = Pick<RunsTable, 'run_id' | 'parent_run_id' | 'lineage' | 'attempt'>;

/** A run and what is new about its copy. */
interface CopiedRun {
  readonly oldId: string;
  readonly newId: string;
  readonly parentId: string | null;
  readonly lineage: RunLineage;
}

/** Parameters of one statement are bounded, and so is how long it keeps others from writing. */
const copiedAtOnce = 200;

// In the order in which they were made: the new ids sort like the old ones.
const finishedWhere = (when: string) => `SELECT run_id, parent_run_id, lineage, attempt FROM runs
   WHERE session_id = ? AND status IN ('completed', 'error', 'cancelled', 'regenerated')${when}
   ORDER BY session_seq, run_id`;

const readFinished = statement('runs_to_copy', finishedWhere(''));

const readFinishedBefore = statement(
  'earlier_runs_to_copy',
  finishedWhere(` AND session_seq <
     (SELECT bound.session_seq FROM runs AS bound WHERE bound.run_id = ? AND bound.session_id = ?)`),
);

/** The copy is not executed, and its events were those of the original run. */
const ownColumns: Partial<Record<(typeof runColumns)[number], string>> = {
  run_id: 'copies.new_id',
  session_id: '?',
  parent_run_id: 'copies.parent_id',
  lineage: 'copies.lineage',
  lease_owner: 'NULL',
  lease_expires_at: 'NULL',
  wake_at: 'NULL',
  trace_parent: 'NULL',
  next_event_index: '0',
};

/** CROSS JOIN also makes SQLite begin with the copies. */
function copyRunsSql(count: number): string {
  const values = runColumns.map((column) => ownColumns[column] ?? `runs.${column}`);
  return `WITH ${copiesOf(count)} INSERT INTO runs (${runColumns.join(', ')}, session_seq, packed_steps)
    SELECT ${values.join(', ')}, runs.session_seq, runs.packed_steps
    FROM copies CROSS JOIN runs WHERE runs.run_id = copies.old_id`;
}

function copyStepsSql(count: number): string {
  const values = stepColumns.map((column) => (column === 'run_id' ? 'copies.new_id' : `steps.${column}`));
  return `WITH ${copiesOf(count)} INSERT INTO steps (${stepColumns.join(', ')}) SELECT ${values.join(', ')}
    FROM copies CROSS JOIN steps WHERE steps.run_id = copies.old_id`;
}

function copyTextsSql(count: number): string {
  return `WITH ${copiesOf(count)} INSERT INTO run_texts (run_id, text_id, part, kept, payload)
    SELECT copies.new_id, texts.text_id, texts.part, texts.kept, texts.payload
    FROM copies CROSS JOIN run_texts AS texts WHERE texts.run_id = copies.old_id AND texts.kept = 1`;
}

function copiesOf(count: number): string {
  return `copies (old_id, new_id, parent_id, lineage) AS (VALUES ${Array(count).fill('(?, ?, ?, ?)').join(', ')})`;
}

/**
 * Copies a session with its finished runs and their steps, and answers with how many runs that are. Only ids pass
 * through here: what the runs hold is copied within the database. A session without finished runs is not copied.
 */
export function copySession(database: Database, copy: SessionCopy): Promise<number> {
  return database.transaction(async (run) => {
    // All statements see the session at one moment; SQLite's transaction keeps others from writing anyway.
    if (database.dialect === 'postgres') await run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const { sourceSessionId: id, beforeRunId } = copy;
    const source = await (beforeRunId === undefined
      ? run<SourceRun>(readFinished[database.dialect], [id])
      : run<SourceRun>(readFinishedBefore[database.dialect], [id, beforeRunId, id]));
    const runs = copiesWithin(source, copy);
    if (runs.length === 0) return 0;
    await copySessionRows(database, run, copy, beforeRunId === undefined);
    for (let at = 0; at < runs.length; at += copiedAtOnce) {
      await copyRuns(database, run, copy, runs.slice(at, at + copiedAtOnce));
    }
    return runs.length;
  });
}

async function copyRuns(
  { dialect }: Database,
  run: RunStatement,
  { newSessionId }: SessionCopy,
  copies: readonly CopiedRun[],
): Promise<void> {
  const values = copies.flatMap(({ oldId, newId, parentId, lineage }) => [
    oldId,
    newId,
    parentId,
    JSON.stringify(lineage),
  ]);
  const runsSql = statement('copy_runs', copyRunsSql(copies.length))[dialect];
  const stepsSql = statement('copy_steps', copyStepsSql(copies.length))[dialect];
  await run(runsSql, [...values, newSessionId]);
  await run(stepsSql, values);
  await run(statement('copy_texts', copyTextsSql(copies.length))[dialect], values);
}

/** A run inside one that is not copied is not copied either: nothing would lead to it. */
function copiesWithin(source: readonly SourceRun[], { sourceSessionId, newRunId }: SessionCopy): CopiedRun[] {
  const parents = new Map(source.map((row) => [row.run_id, row.parent_run_id]));
  const isWhole = (runId: string): boolean => {
    const parentId = parents.get(runId);
    return parentId === null || (parentId !== undefined && isWhole(parentId));
  };
  const whole = source.filter((row) => isWhole(row.run_id));
  const copies = whole.map((row) => ({ row, newId: newRunId() }));
  const newIds = new Map(copies.map(({ row, newId }) => [row.run_id, newId]));
  return copies.map(({ row, newId }) => ({
    oldId: row.run_id,
    newId,
    parentId: newIds.get(row.parent_run_id ?? '') ?? null,
    lineage: copiedLineage(row, sourceSessionId, newIds),
  }));
}

function copiedLineage(
  { lineage: stored, attempt: paidAttempt }: SourceRun,
  sourceSessionId: string,
  newIds: ReadonlyMap<string, string>,
): RunLineage {
  const { replaces, ...kept } = storedJsonOrNull<RunLineage>(stored) ?? {};
  // A copy that completes later gives way to nothing outside its own session.
  const replaced = replaces === undefined ? undefined : newIds.get(replaces);
  return {
    forkedFromSessionId: sourceSessionId,
    ...kept,
    paidAttempt,
    ...(replaced !== undefined && { replaces: replaced }),
  };
}
