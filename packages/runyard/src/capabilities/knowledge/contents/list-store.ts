import type { SelectQueryBuilder } from 'kysely';
import type { JsonObject } from '../../../core/json.js';
import type { Database } from '../../../platform/storage/database.js';
import { queryBuilder } from '../../../platform/storage/query-builder.js';
import type { Schema } from '../../../platform/storage/schema.js';
import { searchText } from '../../../platform/storage/search-text.js';
import type { ContentScope, StoredContent } from './content.js';
import { comparableValue } from './metadata-values.js';
import { contentFromRow } from './rows-store.js';

/** What a list can be sorted by: the names of the wire and their columns. */
export const contentSorts = {
  id: 'content_id',
  name: 'name',
  description: 'description',
  type: 'type',
  size: 'size',
  metadata: 'metadata',
  status: 'status',
  status_message: 'status_message',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;

export type ContentSort = keyof typeof contentSorts;

/** All that is given has to fit. */
export interface ContentFilter {
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  /** A part of the name or the description, in letters of either case. */
  readonly search?: string | undefined;
  /** Each key has this value. */
  readonly metadata?: JsonObject | undefined;
}

export interface ContentOrder {
  readonly by: ContentSort;
  readonly direction: 'asc' | 'desc';
}

interface Range {
  readonly limit: number;
  readonly offset: number;
}

type Contents = SelectQueryBuilder<Schema, 'knowledge_contents', object>;

const numeric: ReadonlySet<string> = new Set(['size', 'created_at', 'updated_at']);
const nullable: ReadonlySet<string> = new Set(['name', 'type', 'metadata']);

/** Lists of contents, as callers see them. */
export class ContentListStore {
  constructor(private readonly database: Database) {}

  async list(
    knowledgeId: string,
    scope: ContentScope,
    filter: ContentFilter,
    order: ContentOrder,
    range: Range,
  ): Promise<{ readonly items: StoredContent[]; readonly total: number }> {
    const selection = this.filtered(knowledgeId, scope, filter);
    const { count } = await selection
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    const total = Number(count);
    if (range.offset >= total) return { items: [], total };
    const { sql } = queryBuilder();
    const column = contentSorts[order.by];
    // both databases in the same order: what has no value last, texts by their characters
    let sorted = nullable.has(column) ? selection.orderBy(sql`${sql.ref(column)} is null`) : selection;
    sorted = sorted.orderBy(this.plainOrder(column), order.direction);
    if (column !== 'content_id') sorted = sorted.orderBy(this.plainOrder('content_id'), order.direction);
    const rows = await sorted.selectAll().limit(range.limit).offset(range.offset).execute();
    return { items: rows.map(contentFromRow), total };
  }

  async find(
    knowledgeId: string,
    scope: ContentScope,
    contentId: string,
  ): Promise<StoredContent | undefined> {
    const row = await this.visible(knowledgeId, scope)
      .where('content_id', '=', contentId)
      .selectAll()
      .executeTakeFirst();
    return row && contentFromRow(row);
  }

  /** The ids of contents that a removal of everything begins with. */
  async someIds(knowledgeId: string, scope: ContentScope, limit: number): Promise<string[]> {
    const rows = await this.visible(knowledgeId, scope).select('content_id').limit(limit).execute();
    return rows.map((row) => row.content_id);
  }

  /** The metadata keys of the contents that the scope shows, sorted. Its cost depends on the number of keys. */
  async keys(knowledgeId: string, scope: ContentScope): Promise<string[]> {
    if (scope.kind === 'none') return [];
    if (scope.kind === 'bound') return this.keysWithin(knowledgeId, scope);
    const keys: string[] = [];
    for (let last = ''; keys.length < mostKeys; ) {
      const row = await this.database.query
        .selectFrom('knowledge_metadata')
        .where('knowledge_id', '=', knowledgeId)
        .where(this.plainOrder('key'), '>', last)
        .orderBy(this.plainOrder('key'))
        .select('key')
        .executeTakeFirst();
      if (row === undefined) break;
      keys.push(row.key);
      last = row.key;
    }
    return keys;
  }

  /** The same for a part of the contents: its cost depends on their number. */
  private async keysWithin(knowledgeId: string, scope: ContentScope): Promise<string[]> {
    const rows = await this.database.query
      .selectFrom('knowledge_metadata')
      .where('knowledge_id', '=', knowledgeId)
      .where('content_id', 'in', this.visible(knowledgeId, scope).select('content_id'))
      .select('key')
      .distinct()
      .limit(mostKeys)
      .execute();
    return rows.map(({ key }) => key).sort();
  }

  private filtered(knowledgeId: string, scope: ContentScope, filter: ContentFilter): Contents {
    const { status, type, search, metadata = {} } = filter;
    let selection = this.withValues(this.visible(knowledgeId, scope), metadata);
    if (status !== undefined) selection = selection.where('status', '=', status);
    if (type !== undefined) selection = selection.where('type', '=', type);
    if (search === undefined) return selection;
    const { sql } = queryBuilder();
    const position = this.database.dialect === 'sqlite' ? sql.raw('instr') : sql.raw('strpos');
    return selection.where(sql<boolean>`${position}(search_text, ${searchText(search)}) > 0`);
  }

  private visible(knowledgeId: string, scope: ContentScope): Contents {
    const contents = this.database.query
      .selectFrom('knowledge_contents')
      .where('knowledge_contents.knowledge_id', '=', knowledgeId)
      .where('deleted_at', 'is', null);
    if (scope.kind === 'all') return contents;
    const { sql } = queryBuilder();
    return scope.kind === 'none'
      ? contents.where(sql<boolean>`1 = 0`)
      : this.withValues(contents, scope.values);
  }

  private withValues(contents: Contents, values: JsonObject): Contents {
    const { sql } = queryBuilder();
    let narrowed = contents;
    for (const [key, value] of Object.entries(values)) {
      narrowed = narrowed.where(
        sql<boolean>`EXISTS (SELECT 1 FROM knowledge_metadata AS m
          WHERE m.knowledge_id = knowledge_contents.knowledge_id AND m.content_id = knowledge_contents.content_id
            AND m.key = ${key} AND m.value = ${comparableValue(value)})`,
      );
    }
    return narrowed;
  }

  /** Texts in the order of their characters, whatever the language of the database. */
  private plainOrder(column: string) {
    const { sql } = queryBuilder();
    return this.database.dialect === 'sqlite' || numeric.has(column)
      ? sql<string>`${sql.ref(column)}`
      : sql<string>`${sql.ref(column)} collate "C"`;
  }
}

/** A knowledge base with more keys than this has them in filters all the same; lists of keys end here. */
const mostKeys = 1_000;
