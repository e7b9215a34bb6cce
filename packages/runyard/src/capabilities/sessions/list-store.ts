import type { SelectQueryBuilder } from 'kysely';
import type { RunKind } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { TimeBounds } from '../../platform/http/defences/time-bounds.js';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { Schema } from '../../platform/storage/schema.js';
import { within } from '../../platform/storage/scope.js';
import { searchNameOf } from './search-name.js';
import type { SessionsTable } from './tables.js';

/** Which sessions a list holds. All of it has to fit. */
export interface SessionFilter {
  readonly kind?: RunKind | undefined;
  readonly componentId?: string | undefined;
  /** A part of the name, in any case. */
  readonly name?: string | undefined;
  readonly created?: TimeBounds | undefined;
}

/** What sessions are ordered by: a column, or the id of the components of one kind. */
export interface SessionOrder {
  readonly by: 'created_at' | 'updated_at' | 'session_id' | 'user_id' | 'kind' | RunKind;
  readonly direction: 'asc' | 'desc';
}

export interface Range {
  readonly offset: number;
  readonly limit: number;
}

type Column = keyof SessionsTable;
type Sessions = SelectQueryBuilder<Schema, 'sessions', object>;
/** With the columns that they are ordered by. */
type OrderedSessions = SelectQueryBuilder<Schema, 'sessions', SessionsTable>;

/** Sessions of the same value stand in the order in which they were made: that is also the order of the indexes. */
const columnsOf: Readonly<Record<SessionOrder['by'], readonly Column[]>> = {
  created_at: ['created_at', 'session_id'],
  updated_at: ['updated_at', 'session_id'],
  session_id: ['session_id'],
  user_id: ['user_id', 'created_at', 'session_id'],
  kind: ['kind', 'created_at', 'session_id'],
  agent: ['component_id', 'created_at', 'session_id'],
  team: ['component_id', 'created_at', 'session_id'],
  workflow: ['component_id', 'created_at', 'session_id'],
};

const kinds: readonly RunKind[] = ['agent', 'team', 'workflow'];

/** Finds the ids of listed sessions; what is shown of them is read by id. */
export class SessionListStore {
  constructor(private readonly database: Database) {}

  async count(scope: DataScope, filter: SessionFilter): Promise<number> {
    return this.countOf(this.filtered(scope, filter, 'created_at'));
  }

  async ids(scope: DataScope, filter: SessionFilter, order: SessionOrder, range: Range): Promise<string[]> {
    const { by, direction } = order;
    if (by !== 'agent' && by !== 'team' && by !== 'workflow')
      return this.ordered(this.listed(scope, filter, by), by, direction, range);
    if (filter.kind !== undefined) {
      const useful = filter.kind === by ? by : 'created_at';
      return this.ordered([this.filtered(scope, filter, useful)], useful, direction, range);
    }
    return this.idsByComponent(scope, filter, { by, direction }, range);
  }

  /** Sessions of other kinds have no such id: they stand below all that have one, by their creation. */
  private async idsByComponent(
    scope: DataScope,
    filter: SessionFilter,
    { by, direction }: SessionOrder & { readonly by: RunKind },
    { offset, limit }: Range,
  ): Promise<string[]> {
    const others = kinds.filter((kind) => kind !== by);
    type Part = [readonly Sessions[], SessionOrder['by']];
    const ofKind: Part = [[this.filtered(scope, { ...filter, kind: by }, by)], by];
    const ofOthers: Part = [
      others.map((kind) => this.filtered(scope, { ...filter, kind }, 'created_at')),
      'created_at',
    ];
    const [[first, firstBy], [second, secondBy]]: [Part, Part] =
      direction === 'asc' ? [ofOthers, ofKind] : [ofKind, ofOthers];
    const ids = await this.ordered(first, firstBy, direction, { offset, limit });
    if (ids.length === limit) return ids;
    const counts = await Promise.all(first.map((sessions) => this.countOf(sessions)));
    const passed = Math.max(offset - counts.reduce((sum, count) => sum + count, 0), 0);
    const rest = { offset: passed, limit: limit - ids.length };
    return [...ids, ...(await this.ordered(second, secondBy, direction, rest))];
  }

  /** All that fit: as one list, or by creation as one of each kind, as their index has them. */
  private listed(scope: DataScope, filter: SessionFilter, by: SessionOrder['by']): readonly Sessions[] {
    const isByKind = by === 'created_at' && filter.kind === undefined && isThroughKinds(scope, filter);
    const lists = isByKind ? kinds.map((kind) => ({ ...filter, kind })) : [filter];
    return lists.map((list) => this.filtered(scope, list, by));
  }

  /** A page of several lists, merged in their order. */
  private async ordered(
    lists: readonly Sessions[],
    by: SessionOrder['by'],
    direction: 'asc' | 'desc',
    { offset, limit }: Range,
  ): Promise<string[]> {
    const inOrder = (sessions: OrderedSessions) => this.inOrder(sessions, by, direction);
    const selected = lists.map((sessions) => sessions.select(columnsOf[by]));
    if (selected.length > 1 && this.database.dialect === 'postgres') {
      // it merges lists that are in order, and sorts all others
      const { sql } = queryBuilder();
      const merged = sql.join(selected.map(inOrder), sql` UNION ALL `);
      const order = sql.join(columnsOf[by].map((column) => sql`${sql.ref(column)} ${sql.raw(direction)}`));
      const { rows } = await sql<Pick<SessionsTable, 'session_id'>>`
        SELECT session_id FROM (${merged}) AS merged ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`.execute(
        this.database.lists.query,
      );
      return rows.map((row) => row.session_id);
    }
    const merged = selected.reduce((all, list) => all.unionAll(list));
    const rows = await inOrder(merged).limit(limit).offset(offset).execute();
    return rows.map((row) => row.session_id);
  }

  private inOrder(
    sessions: OrderedSessions,
    by: SessionOrder['by'],
    direction: 'asc' | 'desc',
  ): OrderedSessions {
    let query = sessions;
    for (const column of columnsOf[by]) {
      // A session without a user comes before all users, as in SQLite.
      query = query.orderBy(column, (order) => {
        const directed = direction === 'asc' ? order.asc() : order.desc();
        if (column !== 'user_id' || this.database.dialect === 'sqlite') return directed;
        return direction === 'asc' ? directed.nullsFirst() : directed.nullsLast();
      });
    }
    return query;
  }

  private async countOf(sessions: Sessions): Promise<number> {
    const row = await sessions
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return row.count;
  }

  private filtered(scope: DataScope, filter: SessionFilter, by: SessionOrder['by']): Sessions {
    const { kind, componentId, name, created } = filter;
    const leading = leadingOf(scope, filter, by);
    let query = within<Sessions>(this.database.lists.query.selectFrom('sessions'), scope, 'user_id');
    if (componentId !== undefined)
      query = query.where(this.column('component_id', leading), '=', componentId);
    const isOfKinds = isThroughKinds(scope, filter) && by === 'created_at';
    if (kind !== undefined) query = query.where(this.column('kind', isOfKinds ? 'kind' : leading), '=', kind);
    else if (isOfKinds && created !== undefined) query = query.where('kind', 'in', kinds);
    if (created !== undefined)
      query = query.where('created_at', '>=', created.from).where('created_at', '<', created.until);
    const searched = name && searchNameOf(name);
    return searched ? this.named(query, searched, leading === 'name' && by !== 'created_at') : query;
  }

  /**
   * SQLite keeps no statistics here and may take the index of a less selective column. A plus sign
   * keeps it from using the index of a column that does not lead.
   */
  private column(name: 'kind' | 'component_id', leading: string) {
    const { sql } = queryBuilder();
    return this.database.dialect === 'postgres' || name === leading ? sql.ref(name) : sql`+${sql.ref(name)}`;
  }

  /** The searched name is matched literally. `apart`: the names are searched on their own. */
  private named(query: Sessions, wanted: string, apart: boolean): Sessions {
    const { sql } = queryBuilder();
    const position = this.database.dialect === 'sqlite' ? 'instr' : 'strpos';
    const fits = sql<boolean>`${sql.raw(position)}(search_name, ${wanted}) > 0`;
    if (!apart || this.database.dialect === 'postgres') return query.where(fits);
    return query.where('session_id', 'in', (inner) =>
      inner.selectFrom('sessions').select('session_id').where(fits),
    );
  }
}

/** What is listed by creation is found by the kinds of sessions, unless something leaves fewer sessions. */
function isThroughKinds(scope: DataScope, { componentId }: SessionFilter): boolean {
  return scope.kind === 'all' && componentId === undefined;
}

/** The filter that leaves the fewest sessions, or the order that is followed; all others are checked on the way. */
function leadingOf(scope: DataScope, { componentId, name }: SessionFilter, by: SessionOrder['by']): string {
  if (scope.kind !== 'all') return 'user_id';
  if (by === 'updated_at' && !name) return 'order';
  if (componentId !== undefined) return 'component_id';
  if (name) return 'name';
  return by === 'agent' || by === 'team' || by === 'workflow' ? 'order' : 'kind';
}
