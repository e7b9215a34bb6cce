import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataScope } from '../../platform/auth/caller.js';
import type { ListPage } from '../../platform/http/request/pagination.js';
import { type Database, statement } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { within } from '../../platform/storage/scope.js';
import { searchText } from '../../platform/storage/search-text.js';
import type { MemoryOrder, Range } from './order-store.js';
import { type FoundPlace, placesOf } from './places-store.js';
import { type MemoryRow, memoryColumns, memoryFromRow } from './rows-store.js';
import {
  countSelected,
  holds,
  type MemoryFilter,
  type MemorySearch,
  ownerOf,
  searchOf,
} from './selection-store.js';
import type { StoredMemory } from './stored-memory.js';
import { searchEverybody } from './text-search-store.js';

/** The number of memories of a user, and the time of the newest one. */
export interface MemoryOwner {
  readonly userId: string;
  readonly total: number;
  readonly updatedAt: number;
}

/** The number of rows per read: a request for everything does not delay others for long. */
const pieceSize = 500;

const newestOf = statement(
  'memories_newest',
  `SELECT ${memoryColumns.join(', ')} FROM memories WHERE user_id = ?
    ORDER BY updated_at DESC, memory_id DESC LIMIT ?`,
);

const qualifiedColumns = memoryColumns.map((column) => `memories.${column}` as const);

/** Reads the memories of one database. */
export class MemoryStore {
  constructor(private readonly database: Database) {}

  async list(
    scope: DataScope,
    filter: MemoryFilter,
    order: MemoryOrder,
    range: Range,
  ): Promise<ListPage<StoredMemory>> {
    const search = await searchOf(this.database, scope, filter);
    if (isTextAlone(search)) {
      const { total, ids } = await searchEverybody(this.database, search.text, order, range);
      return {
        items: ids === undefined ? await this.rows(search, order, range, total) : await this.named(ids),
        total,
      };
    }
    const total = await countSelected(this.database, search);
    return { items: range.offset >= total ? [] : await this.rows(search, order, range, total), total };
  }

  async find(scope: DataScope, memoryId: string, userId?: string): Promise<StoredMemory | undefined> {
    const named = this.database.query.selectFrom('memories').where('memory_id', '=', memoryId);
    const found = within(named, ownerOf(scope, userId), 'user_id');
    const row = await found.select(memoryColumns).executeTakeFirst();
    return row && memoryFromRow(row);
  }

  /** All memories of a person, the oldest first. */
  async all(userId: string): Promise<StoredMemory[]> {
    const search = await searchOf(this.database, { kind: 'user', userId }, {});
    const everything = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
    return this.rows(search, { by: 'updated_at', direction: 'asc' }, everything);
  }

  /** The newest memories of a person. For runs, so without the query builder. */
  async newest(userId: string, limit: number): Promise<StoredMemory[]> {
    return (await this.database.read<MemoryRow>(newestOf, [userId, limit])).map(memoryFromRow);
  }

  /** The newest memories of a person whose text or topics hold all the words. */
  async search(userId: string, words: readonly string[], limit: number): Promise<StoredMemory[]> {
    const { database } = this;
    let found = database.query.selectFrom('memories').where('memories.user_id', '=', userId);
    for (const word of words.map(searchText)) {
      found = found.where(({ or, exists, selectFrom }) =>
        or([
          holds(database, 'memories.search_text', word),
          exists(
            selectFrom('memory_topics')
              .select('memory_topics.memory_id')
              .whereRef('memory_topics.memory_id', '=', 'memories.memory_id')
              .where(holds(database, 'memory_topics.search_topic', word)),
          ),
        ]),
      );
    }
    const rows = await found
      .select(qualifiedColumns)
      .orderBy('memories.updated_at', 'desc')
      .orderBy('memories.memory_id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(memoryFromRow);
  }

  /** All topics, each once. It goes from one to the next, however many memories have it. */
  async topics(scope: DataScope, userId?: string): Promise<string[]> {
    const owner = ownerOf(scope, userId);
    if (owner.kind === 'unowned') return [];
    const topics: string[] = [];
    while (true) {
      const rows = await this.topicsAfter(owner, topics.at(-1));
      topics.push(...rows);
      if (rows.length < pieceSize) return topics;
      await nextTurn();
    }
  }

  /** Who has memories, those whose newest is the latest first. */
  async owners(scope: DataScope, range: Range, userId?: string): Promise<ListPage<MemoryOwner>> {
    const everybody = this.database.query.selectFrom('memory_owners');
    const owners = within(everybody, ownerOf(scope, userId), 'user_id');
    const { total } = await owners
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const items: MemoryOwner[] = [];
    const end = Math.min(range.offset + range.limit, total);
    for (let offset = range.offset; offset < end; offset += pieceSize) {
      const rows = await owners
        .selectAll()
        .orderBy('updated_at', 'desc')
        .orderBy('user_id', 'desc')
        .limit(Math.min(pieceSize, end - offset))
        .offset(offset)
        .execute();
      for (const row of rows)
        items.push({ userId: row.user_id, total: row.total, updatedAt: row.updated_at });
      await nextTurn();
    }
    return { items, total };
  }

  /** A part of the list, read in pieces: each begins where the one before ended. */
  private async rows(
    search: MemorySearch,
    order: MemoryOrder,
    { offset, limit }: Range,
    total?: number,
  ): Promise<StoredMemory[]> {
    const left = total === undefined ? limit : Math.min(limit, total - offset);
    if (total !== undefined && left <= pieceSize && offset > total / 2) {
      // nearer to the end: counted from there
      const direction = order.direction === 'asc' ? 'desc' : 'asc';
      const range = { offset: total - offset - left, limit: left, total };
      const places = await placesOf(this.database, search, { ...order, direction }, range);
      return this.named(idsOf(places.reverse()));
    }
    const memories: StoredMemory[] = [];
    let found = 0;
    for (let after: FoundPlace | undefined; found < limit; ) {
      const size = Math.min(pieceSize, limit - found);
      const range = {
        offset: after === undefined ? offset : 0,
        limit: size,
        after,
        ...(total !== undefined && { total }),
      };
      const places = await placesOf(this.database, search, order, range);
      memories.push(...(await this.named(idsOf(places))));
      found += places.length;
      after = places.at(-1);
      if (places.length < size) break;
      await nextTurn();
    }
    return memories;
  }

  /** The memories with these ids, in their order. */
  private async named(ids: readonly string[]): Promise<StoredMemory[]> {
    const found = new Map<string, MemoryRow>();
    for (let from = 0; from < ids.length; from += pieceSize) {
      const rows = await this.database.query
        .selectFrom('memories')
        .select(memoryColumns)
        .where('memory_id', 'in', ids.slice(from, from + pieceSize))
        .execute();
      for (const row of rows) found.set(row.memory_id, row);
      await nextTurn();
    }
    return ids.flatMap((id) => found.get(id) ?? []).map(memoryFromRow);
  }

  private async topicsAfter(owner: DataScope, last: string | undefined): Promise<string[]> {
    const { sql } = queryBuilder();
    const mine = owner.kind === 'user' ? sql`memory_topics.user_id = ${owner.userId}` : sql`true`;
    const first = last === undefined ? mine : sql`${mine} AND memory_topics.topic > ${last}`;
    const { rows } = await sql<{ topic: string }>`
      SELECT topic FROM (WITH RECURSIVE listed (topic) AS (
        SELECT min(memory_topics.topic) FROM memory_topics WHERE ${first}
        UNION ALL
        SELECT (SELECT min(memory_topics.topic) FROM memory_topics
          WHERE ${mine} AND memory_topics.topic > listed.topic)
        FROM listed WHERE listed.topic IS NOT NULL
      ) SELECT topic FROM listed LIMIT ${pieceSize}) AS topics WHERE topic IS NOT NULL
    `.execute(this.database.query);
    return rows.map(({ topic }) => topic);
  }
}

function isTextAlone(search: MemorySearch): search is MemorySearch & { readonly text: string } {
  const { owner, agentId, teamId, lead, text } = search;
  const isNarrowed = [agentId, teamId, lead].some((narrowing) => narrowing !== undefined);
  return text !== undefined && owner.kind === 'all' && !isNarrowed;
}

function idsOf(places: readonly FoundPlace[]): string[] {
  return places.map((place) => place.memory_id);
}
