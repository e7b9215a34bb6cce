import { lowestIdAt } from '../../core/ids.js';

/*
 * On PostgreSQL, the tables that grow with every run are partitioned by the id of the run, which begins with the time at
 * which it was made. Partitions are named after days, counted from 1970:
 *   steps_default       ids that are no times, such as those that clients choose, and what was there before
 *   steps_kept_A_B      what had to stay when the slices of the days A to B were dropped
 *   steps_slice_A_B     the runs of the days A to B, without B
 *   steps_ahead_A       the days from A on, of which there is nothing yet
 */

export interface SlicedTable {
  readonly name: 'steps' | 'event_blocks';
  /** The columns of its key. */
  readonly key: string;
}

export const slicedTables: Readonly<Record<SlicedTable['name'], SlicedTable>> = {
  steps: { name: 'steps', key: 'run_id, seq' },
  event_blocks: { name: 'event_blocks', key: 'run_id, first_index' },
};

const dayMs = 86_400_000;

/** The first day that has no slice: in the year 2100. */
export const endOfTime = 47_482;

export const today = (now = Date.now()) => Math.floor(now / dayMs);
export const idOfDay = (day: number) => lowestIdAt(day * dayMs);

export const defaultOf = (table: string) => `${table}_default`;
export const aheadOf = (table: string, from: number) => `${table}_ahead_${from}`;
export const sliceOf = (table: string, from: number, to: number) => `${table}_slice_${from}_${to}`;
export const keptOf = (table: string, from: number, to: number) => `${table}_kept_${from}_${to}`;
