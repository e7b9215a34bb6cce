import {
  mostPacked,
  packEvents,
  packSteps,
  repeatedResult,
  unpackEvents,
  unpackSteps,
} from '../../../core/runs/journal/packed-journal.js';
import type { RunWrite } from '../../../core/runs/journal/ports.js';
import { type RunResult, type StepKind, type StepRecord, terminalStatuses } from '../../../core/runs/run.js';
import type { Database, Statement } from '../../../platform/storage/database.js';
import { isStoredAsIs, storedJsonOrNull } from '../../../platform/storage/text.js';
import type { PackedColumns, RunsTable } from '../tables.js';
import { type JournalTables, ofTables } from './journal-tables-store.js';
import { jsonOrNull, type PackedJournal, type StoredWrite } from './rows-store.js';

/** Steps of these kinds are looked for in their table. */
const soughtKinds: ReadonlySet<StepKind> = new Set(['member', 'wait']);

/** JSON that PostgreSQL takes no text out of, as the migration down does: with NUL, or a half of a character. */
const untakable = /\\u(?:0000|d[89a-f])/;

/** A run that ends with its first write has its journal in its row. */
export function storedWrite(write: RunWrite): StoredWrite {
  return { write, packed: packedJournal(write), unpackedEvents: undefined };
}

function packedJournal({ insert, steps, events, texts, size = 0 }: RunWrite): PackedJournal | undefined {
  if (insert === undefined || !terminalStatuses.has(insert.status)) return undefined;
  if (texts !== undefined || size > mostPacked || (events?.firstIndex ?? 0) > 0) return undefined;
  if (steps.some(isSought)) return undefined;
  const repeated = repeatedResult(insert.result);
  const packedEvents = events === undefined ? null : packEvents(events, repeated);
  if (packedEvents === undefined) return undefined;
  const packedSteps = packSteps(lastVersions(steps), repeated);
  const result = jsonOrNull(insert.result);
  // what the mark stands for is taken out of the result
  if (untakable.test(packedSteps) || (result !== null && untakable.test(result))) return undefined;
  // the number that packed events begin with is read in SQL, so that they have to be stored as they are
  if (packedEvents !== null && !isStoredAsIs(packedEvents)) return undefined;
  return { packed_steps: packedSteps, packed_events: packedEvents, result };
}

function isSought({ kind }: StepRecord): boolean {
  return soughtKinds.has(kind);
}

/** In their order, and the last version of each. */
export function lastVersions(steps: readonly StepRecord[]): readonly StepRecord[] {
  if (steps.every(followsPrevious)) return steps;
  const distinct = new Map(steps.map((step) => [step.seq, step]));
  return [...distinct.values()].sort((one, other) => one.seq - other.seq);
}

function followsPrevious({ seq }: StepRecord, index: number, steps: readonly StepRecord[]): boolean {
  return index === 0 || seq > (steps[index - 1]?.seq ?? seq);
}

type PackedRow = Pick<RunsTable, 'run_id' | 'result'> & PackedColumns;

const readPacked = ofTables(({ prefix, runs }): Statement => {
  const sql = (given: string) => `SELECT run_id, result, packed_steps, packed_events FROM ${runs}
    WHERE run_id ${given} AND (packed_steps IS NOT NULL OR packed_events IS NOT NULL)`;
  return {
    name: `${prefix}packed_runs`,
    sqlite: sql('IN (SELECT value FROM json_each(?))'),
    postgres: sql('= ANY($1::text[])'),
  };
});

/**
 * A run that is continued gets rows for what its own row held; the same write empties that. A process that continues it
 * in between has this write refused.
 */
export async function withUnpacked(
  database: Database,
  tables: JournalTables,
  writes: readonly StoredWrite[],
): Promise<readonly StoredWrite[]> {
  const claimed = writes.flatMap(({ write: { runId, claims } }) => (claims ? [runId] : []));
  const rows = await database.read<PackedRow>(readPacked(tables), [claimed]);
  const packed = new Map(rows.map((row) => [row.run_id, row]));
  return writes.map((stored) => {
    const row = stored.write.claims && packed.get(stored.write.runId);
    return row === undefined ? stored : unpackedInto(stored, row);
  });
}

function unpackedInto({ write, packed }: StoredWrite, row: PackedRow): StoredWrite {
  const { packed_steps: steps, packed_events: events } = row;
  const gone = new Set([...(write.removedSteps ?? []), ...write.steps.map(({ seq }) => seq)]);
  const result = storedJsonOrNull<RunResult>(row.result);
  const stored = steps === null ? [] : unpackSteps(row.run_id, steps, result);
  return {
    write: { ...write, steps: [...stored.filter(({ seq }) => !gone.has(seq)), ...write.steps] },
    packed,
    unpackedEvents: events === null ? undefined : unpackEvents(events, result),
  };
}
