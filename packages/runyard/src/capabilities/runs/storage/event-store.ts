import type { EventBlock } from '../../../core/runs/journal/ports.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';

// Blocks do not overlap: the one that holds an index is the last that begins at it or before.
const fromTheBlockThatHolds = `first_index >= coalesce(
  (SELECT max(earlier.first_index) FROM event_blocks AS earlier WHERE earlier.run_id = ? AND earlier.first_index <= ?), 0)`;

const readBlocks = statement(
  'event_blocks',
  `SELECT first_index, event_count, payload FROM event_blocks
   WHERE run_id = ? AND first_index + event_count > ? AND ${fromTheBlockThatHolds}
   ORDER BY first_index LIMIT ?`,
);

// A block counts with the part of it that lies within.
const count = ({ least, greatest }: { least: string; greatest: string }) => `
  SELECT coalesce(sum(${least}(first_index + event_count, ?) - ${greatest}(first_index, ?)), 0) AS count
  FROM event_blocks
  WHERE run_id = ? AND first_index < ? AND first_index + event_count > ? AND ${fromTheBlockThatHolds}`;

const countBlocks: Statement = {
  name: 'event_count',
  sqlite: count({ least: 'min', greatest: 'max' }),
  postgres: statement('', count({ least: 'least', greatest: 'greatest' })).postgres,
};

/** The events of runs, as blocks. */
export class EventStore {
  constructor(private readonly database: Database) {}

  async blocks(runId: string, fromIndex: number, limit: number): Promise<EventBlock[]> {
    const rows = await this.database.read<{ first_index: number; event_count: number; payload: string }>(
      readBlocks,
      [runId, fromIndex, runId, fromIndex, limit],
    );
    return rows.map((row) => ({ firstIndex: row.first_index, count: row.event_count, payload: row.payload }));
  }

  /** How many have an index of at least `from` and below `to`. */
  async count(runId: string, from: number, to: number): Promise<number> {
    const parameters = [to, from, runId, to, from, runId, from];
    const [row] = await this.database.read<{ count: number }>(countBlocks, parameters);
    return row!.count;
  }
}
