import type { EventBlock } from '../../../core/runs/journal/ports.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';

const statementsOf = ofTables(({ prefix, events }) => {
  // Blocks do not overlap: the one that holds an index is the last that begins at it or before.
  const fromTheBlockThatHolds = `first_index >= coalesce(
    (SELECT max(earlier.first_index) FROM ${events} AS earlier
     WHERE earlier.run_id = ? AND earlier.first_index <= ?), 0)`;

  // A block counts with the part of it that lies within.
  const count = ({ least, greatest }: { least: string; greatest: string }) => `
    SELECT coalesce(sum(${least}(first_index + event_count, ?) - ${greatest}(first_index, ?)), 0) AS count
    FROM ${events}
    WHERE run_id = ? AND first_index < ? AND first_index + event_count > ? AND ${fromTheBlockThatHolds}`;

  const countBlocks: Statement = {
    name: `${prefix}event_count`,
    sqlite: count({ least: 'min', greatest: 'max' }),
    postgres: statement('', count({ least: 'least', greatest: 'greatest' })).postgres,
  };

  const readBlocks = statement(
    `${prefix}event_blocks`,
    `SELECT first_index, event_count, payload FROM ${events}
     WHERE run_id = ? AND first_index + event_count > ? AND ${fromTheBlockThatHolds}
     ORDER BY first_index LIMIT ?`,
  );

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
    const rows = await this.database.read<{ first_index: number; event_count: number; payload: string }>(
      this.#statements.readBlocks,
      [runId, fromIndex, runId, fromIndex, limit],
    );
    return rows.map((row) => ({ firstIndex: row.first_index, count: row.event_count, payload: row.payload }));
  }

  /** How many have an index of at least `from` and below `to`. */
  async count(runId: string, from: number, to: number): Promise<number> {
    const parameters = [to, from, runId, to, from, runId, from];
    const [row] = await this.database.read<{ count: number }>(this.#statements.countBlocks, parameters);
    return row?.count ?? 0;
  }
}
