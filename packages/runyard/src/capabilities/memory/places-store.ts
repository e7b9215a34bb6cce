import type { SqlBool } from 'kysely';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { type MemoryOrder, type MemoryPlace, type Range, sortColumns } from './order-store.js';
import { everyTopic, isNarrowed, type MemorySearch, ofTopics, selected } from './selection-store.js';

/** What is known of a memory once it is found: its id, and what the list is sorted by. */
export type FoundPlace = Pick<MemoryPlace, 'memory_id'> & Partial<MemoryPlace>;

/** A part of a list: from a place in it on, or after the last memory of the part before. */
export interface Part extends Range {
  readonly after?: FoundPlace | undefined;
  /** How many memories the list has, if that is known. */
  readonly total?: number;
}

/** The places of a part of a list, in its order. An index answers this: what is shown of them is read by their ids. */
export async function placesOf(
  database: Database,
  given: MemorySearch,
  { by, direction }: MemoryOrder,
  { offset, limit, after, total }: Part,
): Promise<FoundPlace[]> {
  const { sql } = queryBuilder();
  const search =
    by === 'created_at' && (await isSoonMet(database, given, offset + limit, total))
      ? everyTopic(given)
      : given;
  // beside a topic stand the time and the owner of its memory
  const isInTopics = search.lead !== undefined && by !== 'created_at';
  const table = isInTopics ? 'lead' : 'memories';
  let selection = isInTopics && !isNarrowed(search) ? ofTopics(database, search) : selected(database, search);
  const columns = sortColumns[by];
  const places = columns.map((column) => sql.ref(`${table}.${column}`));
  if (after !== undefined) {
    const last = columns.map((column) => sql`${after[column]}`);
    const comparison = sql.raw(direction === 'asc' ? '>' : '<');
    selection = selection.where(sql<SqlBool>`(${sql.join(places)}) ${comparison} (${sql.join(last)})`);
  }
  for (const place of places) selection = selection.orderBy(place, direction);
  // both tables have these columns under the same names
  const named = columns.map((column) => `${table}.${column} as ${column}` as `memories.${typeof column}`);
  return selection.select(named).limit(limit).offset(offset).execute();
}

/**
 * Whether SQLite meets enough memories of a topic sooner in the order of their creation, which no index of topics has,
 * than by sorting all of them. PostgreSQL finds that out by itself.
 */
async function isSoonMet(
  { dialect, query }: Database,
  { lead }: MemorySearch,
  needed: number,
  total: number | undefined,
): Promise<boolean> {
  if (dialect !== 'sqlite' || lead === undefined || total === undefined) return false;
  const { sql } = queryBuilder();
  const { all } = await query
    .selectFrom('memory_owners')
    .select(sql<number>`coalesce(sum(total), 0)`.as('all'))
    .executeTakeFirstOrThrow();
  return (needed * all) / total < total;
}
