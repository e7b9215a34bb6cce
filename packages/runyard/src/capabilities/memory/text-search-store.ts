import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, PostgresDatabase, SqliteDatabase } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { type MemoryOrder, type MemoryPlace, type Range, sortColumns } from './order-store.js';
import { holds } from './selection-store.js';

const placeColumns = ['memory_id', 'user_id', 'created_at', 'updated_at'] as const;

/** How many memories SQLite looks through at once. */
const pieceSize = 10_000;
/** Up to how many places a search remembers on the way. */
const mostPlaces = 5_000;

export interface FoundTexts {
  readonly total: number;
  /** Of the page. Undefined: the text is in so many memories that a list in their order soon has the page. */
  readonly ids: readonly string[] | undefined;
}

/** Searches the memories of all users for a text. No index helps there, so it reads all of them, but once. */
export function searchEverybody(
  database: Database,
  text: string,
  order: MemoryOrder,
  range: Range,
): Promise<FoundTexts> {
  return database.dialect === 'sqlite'
    ? searchInPieces(database, text, order, range)
    : searchAtOnce(database, text, order, range);
}

/** SQLite reads on the main thread, so it reads in pieces that block no other work. */
async function searchInPieces(
  database: SqliteDatabase,
  text: string,
  order: MemoryOrder,
  { offset, limit }: Range,
): Promise<FoundTexts> {
  const { sql } = queryBuilder();
  const { last } = await database.query
    .selectFrom('memories')
    .select(sql<number>`coalesce(max(rowid), 0)`.as('last'))
    .executeTakeFirstOrThrow();
  const places: MemoryPlace[] = [];
  let total = 0;
  for (let from = 0; from < last; from += pieceSize) {
    const piece = database.query
      .selectFrom('memories')
      .where(sql<boolean>`rowid > ${from} AND rowid <= ${from + pieceSize}`)
      .where(holds(database, 'search_text', text));
    if (total > mostPlaces) {
      const counted = piece.select(({ fn }) => fn.countAll<number>().as('count'));
      total += (await counted.executeTakeFirstOrThrow()).count;
    } else {
      const rows = await piece.select(placeColumns).execute();
      places.push(...rows);
      total += rows.length;
    }
    await nextTurn();
  }
  if (total > mostPlaces) return { total, ids: undefined };
  const page = places.sort(comparison(order)).slice(offset, offset + limit);
  return { total, ids: page.map((place) => place.memory_id) };
}

/**
 * One statement while there are few: PostgreSQL would otherwise go through all of them for the count, and again for the
 * page. Many are only counted: to keep and sort them takes longer than to meet a page of them in their order.
 */
async function searchAtOnce(
  database: PostgresDatabase,
  text: string,
  { by, direction }: MemoryOrder,
  { offset, limit }: Range,
): Promise<FoundTexts> {
  const { sql } = queryBuilder();
  const order = sql.raw(sortColumns[by].map((column) => `${column} ${direction}`).join(', '));
  const fits = holds(database, 'search_text', text);
  const { rows } = await sql<{ total: number; memory_id: string | null }>`
    WITH found AS MATERIALIZED (
      SELECT ${sql.join(placeColumns.map((column) => sql.ref(column)))} FROM memories
      WHERE ${fits} LIMIT ${mostPlaces + 1}
    ), page AS (SELECT * FROM found ORDER BY ${order} LIMIT ${limit} OFFSET ${offset})
    SELECT counted.total, page.memory_id FROM (SELECT count(*) AS total FROM found) AS counted
    LEFT JOIN page ON true ORDER BY ${order}
  `.execute(database.query);
  const total = rows[0]?.total ?? 0;
  if (total <= mostPlaces) return { total, ids: rows.flatMap(({ memory_id }) => memory_id ?? []) };
  const { count } = await database.query
    .selectFrom('memories')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(fits)
    .executeTakeFirstOrThrow();
  return { total: count, ids: undefined };
}

/** The order of a list, as the database has it: texts by their bytes. */
function comparison({ by, direction }: MemoryOrder): (one: MemoryPlace, other: MemoryPlace) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (one, other) => {
    const column = sortColumns[by].find((name) => one[name] !== other[name]);
    return column === undefined ? 0 : sign * compare(one[column], other[column]);
  };
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number' || typeof other === 'number') return one < other ? -1 : 1;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
