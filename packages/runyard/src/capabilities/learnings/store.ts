import type { JsonObject } from '../../core/json.js';
import { searchableText } from '../../core/learnings/learning-search.js';
import type { Learning } from '../../core/learnings/learnings.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { within } from '../../platform/storage/scope.js';
import { inNamespaces, insertLearning, type LearningSelection, learningFromRow } from './rows-store.js';

/** The columns that a list can be filtered by, all exact. */
const filterColumns = [
  'learning_type',
  'user_id',
  'agent_id',
  'team_id',
  'session_id',
  'namespace',
  'entity_id',
  'entity_type',
] as const;

/** All that is given has to fit. */
export type LearningFilter = { readonly [Column in (typeof filterColumns)[number]]?: string | undefined };

const timeColumns = ['updated_at', 'created_at'] as const;
const sortColumns = [...timeColumns, ...filterColumns, 'learning_id'] as const;
const alwaysSet: ReadonlySet<string> = new Set([...timeColumns, 'learning_id', 'learning_type']);

export interface Order {
  /** The name of a column; any other means the time of the last change. */
  readonly sortBy?: string | undefined;
  readonly direction: 'asc' | 'desc';
}

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

export interface LearningUser {
  readonly userId: string;
  readonly lastLearningUpdatedAt: number;
}

/** The learnings of one database. */
export class LearningStore {
  constructor(private readonly database: Database) {}

  async list(scope: DataScope, filter: LearningFilter, order: Order, range: Range): Promise<Learning[]> {
    const { sql } = queryBuilder();
    const column = sortColumns.find((name) => name === order.sortBy) ?? 'updated_at';
    const { direction } = order;
    let sorted = filtered(this.database, scope, filter);
    if (alwaysSet.has(column)) sorted = sorted.orderBy(plainOrder(this.database, column), direction);
    else {
      // both databases in the same order: what has no value last, texts by their characters
      sorted = sorted.orderBy(sql`${sql.ref(column)} is null`);
      sorted = sorted.orderBy(plainOrder(this.database, column), direction);
    }
    const places = await sorted
      .orderBy(plainOrder(this.database, 'learning_id'), direction)
      .select('learning_id')
      .limit(range.limit)
      .offset(range.offset)
      .execute();
    return this.inOrder(places.map((place) => place.learning_id));
  }

  /** What is sorted are ids: contents may be long, and only those of the page are read. */
  private async inOrder(learningIds: readonly string[]): Promise<Learning[]> {
    if (learningIds.length === 0) return [];
    const rows = await this.database.query
      .selectFrom('learnings')
      .where('learning_id', 'in', learningIds)
      .selectAll()
      .execute();
    const byId = new Map(rows.map((row) => [row.learning_id, learningFromRow(row)]));
    return learningIds.flatMap((learningId) => byId.get(learningId) ?? []);
  }

  async count(scope: DataScope, filter: LearningFilter): Promise<number> {
    const { count } = await filtered(this.database, scope, filter)
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(scope: DataScope, learningId: string): Promise<Learning | undefined> {
    const row = await visible(this.database, scope)
      .where('learning_id', '=', learningId)
      .selectAll()
      .executeTakeFirst();
    return row && learningFromRow(row);
  }

  /** Stores a new record. False if a record with this id exists, for any owner. */
  insert(learning: Learning): Promise<boolean> {
    return insertLearning(this.database, learning, null);
  }

  /** Replaces what is given. False when there is no such record that the scope may change. */
  async update(
    scope: DataScope,
    { learningId, entityId, entityType }: Pick<Learning, 'learningId' | 'entityId' | 'entityType'>,
    given: { readonly content?: JsonObject; readonly metadata?: JsonObject | null },
    now: number,
  ): Promise<boolean> {
    const { content, metadata } = given;
    const update = this.database.query
      .updateTable('learnings')
      .set({
        updated_at: now,
        ...(content !== undefined && {
          content: JSON.stringify(content),
          search_text: searchableText({ content, entityId, entityType }),
        }),
        ...(metadata !== undefined && { metadata: metadata && JSON.stringify(metadata) }),
      })
      .where('learning_id', '=', learningId);
    return (await within(update, scope, 'user_id').executeTakeFirst()).numUpdatedRows > 0n;
  }

  /** False when there is no such record that the scope may change. */
  async delete(scope: DataScope, learningId: string): Promise<boolean> {
    const removal = this.database.query.deleteFrom('learnings').where('learning_id', '=', learningId);
    return (await within(removal, scope, 'user_id').executeTakeFirst()).numDeletedRows > 0n;
  }

  async deleteOfUser(userId: string, learningType: string | undefined): Promise<void> {
    const removal = this.database.query.deleteFrom('learnings').where('user_id', '=', userId);
    await (learningType === undefined
      ? removal
      : removal.where('learning_type', '=', learningType)
    ).execute();
  }

  /** Who has learnings, each with the time of the last one. */
  async users(scope: DataScope, filter: UsersFilter, order: Order, range: Range): Promise<LearningUser[]> {
    const grouped = withOwner(this.database, scope, filter)
      .groupBy('user_id')
      .select((select) => ['user_id', select.fn.max('updated_at').as('updated_at')]);
    const sorted = order.sortBy === 'user_id' ? grouped : grouped.orderBy('updated_at', order.direction);
    const rows = await sorted
      .orderBy(plainOrder(this.database, 'user_id'), order.direction)
      .limit(range.limit)
      .offset(range.offset)
      .execute();
    return rows.map((row) => ({ userId: row.user_id ?? '', lastLearningUpdatedAt: row.updated_at }));
  }

  async countUsers(scope: DataScope, filter: UsersFilter): Promise<number> {
    const { count } = await withOwner(this.database, scope, filter)
      .select((select) => select.fn.count<number>('user_id').distinct().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }
}

export interface UsersFilter {
  readonly learningType?: string | undefined;
  readonly userId?: string | undefined;
}

/** A caller with data of their own sees that, and records without an owner. */
function visible({ query }: Database, scope: DataScope): LearningSelection {
  const learnings = query.selectFrom('learnings');
  if (scope.kind !== 'user') return within(learnings, scope, 'user_id');
  return learnings.where(({ eb, or }) => or([eb('user_id', '=', scope.userId), eb('user_id', 'is', null)]));
}

function filtered(database: Database, scope: DataScope, filter: LearningFilter): LearningSelection {
  let selection = visible(database, scope);
  for (const column of filterColumns) {
    const value = filter[column];
    if (value === undefined) continue;
    selection =
      column === 'namespace' ? inNamespaces(selection, [value]) : selection.where(column, '=', value);
  }
  return selection;
}

function withOwner({ query }: Database, scope: DataScope, { learningType, userId }: UsersFilter) {
  const owned = query.selectFrom('learnings').where('user_id', 'is not', null);
  let selection = within(owned, scope, 'user_id');
  if (learningType !== undefined) selection = selection.where('learning_type', '=', learningType);
  return userId === undefined ? selection : selection.where('user_id', '=', userId);
}

/** Texts in the order of their characters, whatever the language of the database. */
function plainOrder({ dialect }: Database, column: string) {
  const { sql } = queryBuilder();
  const isTime = timeColumns.some((name) => name === column);
  return dialect === 'sqlite' || isTime ? sql`${sql.ref(column)}` : sql`${sql.ref(column)} collate "C"`;
}
