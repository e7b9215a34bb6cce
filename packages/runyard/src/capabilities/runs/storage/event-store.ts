import { unpackEvents } from '../../../core/runs/journal/packed-journal.js';
import type { EventBlock } from '../../../core/runs/journal/ports.js';
import {
  type Database,
  type Dialect,
  type Statement,
  statement,
} from '../../../platform/storage/database.js';
import { storedJsonOrNull } from '../../../platform/storage/text.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';

/** `result` comes with packed events: they refer to it. */
interface BlockRow {
  readonly first_index: number;
  readonly event_count: number;
  readonly payload: string;
  readonly result: string | null;
  readonly packed: number;
}

/** Packed events begin with their number, and the first of them has the index 0. */
const packedCount = {
  sqlite: 'CAST(packed_events AS integer)',
  postgres: `CAST(split_part(packed_events, E'\\n', 1) AS integer)`,
} as const;

const statementsOf = ofTables(({ prefix, runs, events }) => {
  // Blocks do not overlap: the one that holds an index is the last that begins at it or before.
  const fromTheBlockThatHolds = `first_index >= coalesce(
    (SELECT max(earlier.first_index) FROM ${events} AS earlier
     WHERE earlier.run_id = ? AND earlier.first_index <= ?), 0)`;

  // A block counts with the part of it that lies within.
  const count = (dialect: Dialect, { least, greatest }: { least: string; greatest: string }) => `
    SELECT coalesce(sum(${least}(first_index + event_count, ?) - ${greatest}(first_index, ?)), 0) + coalesce(
      (SELECT ${greatest}(${least}(${packedCount[dialect]}, ?) - CAST(? AS integer), 0) FROM ${runs}
       WHERE run_id = ? AND packed_events IS NOT NULL), 0) AS count
    FROM ${events}
    WHERE run_id = ? AND first_index < ? AND first_index + event_count > ? AND ${fromTheBlockThatHolds}`;

  const countBlocks: Statement = {
    name: `${prefix}event_count`,
    sqlite: count('sqlite', { least: 'min', greatest: 'max' }),
    postgres: statement('', count('postgres', { least: 'least', greatest: 'greatest' })).postgres,
  };

  const blocks = (dialect: Dialect) => `
    SELECT 0 AS first_index, 0 AS event_count, packed_events AS payload, result, 1 AS packed FROM ${runs}
    WHERE run_id = ? AND packed_events IS NOT NULL AND ${packedCount[dialect]} > ?
    UNION ALL
    SELECT first_index, event_count, payload, NULL AS result, 0 AS packed FROM ${events}
    WHERE run_id = ? AND first_index + event_count > ? AND ${fromTheBlockThatHolds}
    ORDER BY first_index LIMIT ?`;

  const readBlocks: Statement = {
    name: `${prefix}event_blocks`,
    sqlite: blocks('sqlite'),
    postgres: statement('', blocks('postgres')).postgres,
  };

  return { readBlocks, countBlocks };
});

/** The events of runs, as blocks. */
export class EventStore {
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(
    private readonly database: Database,
    tables: JournalTables = runTables,
  ) {
    this.#statements = statementsOf(tables);
  }

  async blocks(runId: string, fromIndex: number, limit: number): Promise<EventBlock[]> {
    const from = [runId, fromIndex];
    const parameters = [...from, ...from, ...from, limit];
    const rows = await this.database.read<BlockRow>(this.#statements.readBlocks, parameters);
    return rows.map(({ first_index: firstIndex, event_count: count, payload, result, packed }) =>
      packed === 1 ? unpackEvents(payload, storedJsonOrNull(result)) : { firstIndex, count, payload },
    );
  }

  /** How many have an index of at least `from` and below `to`. */
  async count(runId: string, from: number, to: number): Promise<number> {
    const parameters = [to, from, to, from, runId, runId, to, from, runId, from];
    const [row] = await this.database.read<{ count: number }>(this.#statements.countBlocks, parameters);
    return row?.count ?? 0;
  }
}
