import {
  mostPacked,
  packEvents,
  packSteps,
  unpackEvents,
  unpackSteps,
} from '../../../core/runs/journal/packed-journal.js';
import type { EventBlock, RunWrite } from '../../../core/runs/journal/ports.js';
import { type RunResult, type StepKind, type StepRecord, terminalStatuses } from '../../../core/runs/run.js';
import type { Database, Statement } from '../../../platform/storage/database.js';
import { encodeText, storedJsonOrNull } from '../../../platform/storage/text.js';
import type { PackedColumns, RunsTable } from '../tables.js';
import { type JournalTables, ofTables } from './journal-tables-store.js';

/** A write as it is stored. */
export interface StoredWrite extends RunWrite {
  /** What the row of the run holds, instead of rows for its steps and events. */
  readonly packed?: PackedColumns;
  /** The events that the row held before. */
  readonly unpackedEvents?: EventBlock;
}

/** Steps of these kinds are looked for in their table. */
const soughtKinds: ReadonlySet<StepKind> = new Set(['member', 'wait']);

/** JSON that PostgreSQL takes no text out of, as the migration down does: with NUL, or a half of a character. */
const untakable = /\\u(?:0000|d[89a-f])/;

/** A run that ends with its first write has its journal in its row. */
export function packedWrite(write: RunWrite): StoredWrite {
  const { insert, steps, events, texts, size = 0 } = write;
  if (insert === undefined || !terminalStatuses.has(insert.status)) return write;
  if (texts !== undefined || size > mostPacked || (events?.firstIndex ?? 0) > 0) return write;
  if (steps.some(({ kind }) => soughtKinds.has(kind))) return write;
  const packedEvents = events === undefined ? null : packEvents(events, insert.result);
  const packedSteps = packSteps(lastVersions(steps), insert.result);
  if (packedEvents === undefined || untakable.test(packedSteps)) return write;
  // what the mark stands for is taken out of the result
  if (untakable.test(JSON.stringify(insert.result))) return write;
  // the number that packed events begin with is read in SQL, so that they have to be stored as they are
  if (packedEvents !== null && encodeText(packedEvents) !== packedEvents) return write;
  return { ...write, packed: { packed_steps: packedSteps, packed_events: packedEvents } };
}

/** In their order, and the last version of each. */
export function lastVersions(steps: readonly StepRecord[]): readonly StepRecord[] {
  const ascend = steps.every(({ seq }, index) => index === 0 || seq > (steps[index - 1]?.seq ?? seq));
  if (ascend) return steps;
  const distinct = new Map(steps.map((step) => [step.seq, step]));
  return [...distinct.values()].sort((one, other) => one.seq - other.seq);
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
  const claimed = writes.flatMap(({ runId, claims }) => (claims ? [runId] : []));
  const rows = await database.read<PackedRow>(readPacked(tables), [claimed]);
  const packed = new Map(rows.map((row) => [row.run_id, row]));
  return writes.map((write) => {
    const row = write.claims && packed.get(write.runId);
    return row === undefined ? write : unpackedInto(write, row);
  });
}

function unpackedInto(write: StoredWrite, row: PackedRow): StoredWrite {
  const { packed_steps: steps, packed_events: events } = row;
  const gone = new Set([...(write.removedSteps ?? []), ...write.steps.map(({ seq }) => seq)]);
  const result = storedJsonOrNull<RunResult>(row.result);
  const stored = steps === null ? [] : unpackSteps(row.run_id, steps, result);
  return {
    ...write,
    steps: [...stored.filter(({ seq }) => !gone.has(seq)), ...write.steps],
    ...(events !== null && { unpackedEvents: unpackEvents(events, result) }),
  };
}
