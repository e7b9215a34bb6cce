import type { DataScope } from '../../../platform/auth/caller.js';
import type { ListPage } from '../../../platform/http/request/pagination.js';
import type { Database } from '../../../platform/storage/database.js';
import { queryBuilder } from '../../../platform/storage/query-builder.js';
import { withValues } from '../few-values-store.js';
import type { TraceFilter } from '../filter.js';
import { isIndexed } from '../filter-store.js';
import { type Range, selected, type TraceRow, withinScope } from '../store.js';
import { type FoundSessions, isSteady, RememberedSessions, walked } from './remembered-sessions.js';
import { SessionPlacesStore } from './session-places-store.js';

/** What the traces of one session come to. Of ids it holds the greatest one. */
export interface SessionStatistics {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly agentId: string | null;
  readonly teamId: string | null;
  readonly workflowId: string | null;
  readonly traces: number;
  readonly first: number;
  readonly last: number;
}

/** Up to so many traces are combined here: one query of the table is enough then. */
const groupedHere = { indexed: 5000, unindexed: 1000 };

/** How many sessions are read in one statement. */
const sessionsAtOnce = 500;

/** The sessions that the recorded runs belong to. The one with the newest trace comes first. */
export class SessionStatisticsStore {
  readonly #places: SessionPlacesStore;
  readonly #remembered: RememberedSessions;

  constructor(private readonly database: Database) {
    this.#places = new SessionPlacesStore(database);
    this.#remembered = new RememberedSessions(this.#places);
  }

  async page(
    scope: DataScope,
    filter: TraceFilter | null,
    range: Range,
  ): Promise<ListPage<SessionStatistics>> {
    const given = withinScope(scope, filter);
    const wanted = given && (await withValues(this.database, given));
    const few = wanted === null ? undefined : await this.#few(wanted);
    if (few !== undefined) {
      return { items: few.slice(range.offset, range.offset + range.limit), total: few.length };
    }
    const { sessionIds, total } = await this.#found(wanted, range);
    return { items: await this.#statistics(wanted, sessionIds), total };
  }

  async #found(wanted: TraceFilter | null, range: Range): Promise<FoundSessions> {
    if (wanted === null || isSteady(wanted)) return this.#remembered.page(wanted, range);
    if (!isIndexed(wanted)) return this.#atOnce(wanted, range);
    if (range.offset + range.limit > walked) return this.#far(wanted, range);
    return { sessionIds: await this.#places.walked(wanted, range), total: await this.#places.count(wanted) };
  }

  /** The sessions of all traces that fit, unless there are many. */
  async #few(wanted: TraceFilter): Promise<SessionStatistics[] | undefined> {
    const indexed = isIndexed(wanted);
    if (indexed && (await this.#isMany(wanted))) return undefined;
    const most = indexed ? groupedHere.indexed : groupedHere.unindexed;
    const rows = await selected(this.database, wanted)
      .select(['session_id', 'user_id', 'kind', 'component_id', 'start_time'])
      .limit(most + 1)
      .execute();
    return rows.length > most ? undefined : grouped(rows);
  }

  /** An index answers this without reading the traces. */
  async #isMany(wanted: TraceFilter): Promise<boolean> {
    const some = selected(this.database, wanted)
      .select('run_id')
      .limit(groupedHere.indexed + 1);
    const { count } = await this.database.query
      .selectFrom(some.as('some'))
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count > groupedHere.indexed;
  }

  /** Far from the beginning: a part of all sessions by their newest trace, with how many they all are. */
  #far(wanted: TraceFilter | null, range: Range): Promise<FoundSessions> {
    return this.database.dialect === 'sqlite'
      ? this.#fromNearerEnd(wanted, range)
      : this.#atOnce(wanted, range);
  }

  /** SQLite counts from an index alone, and sorts the less the nearer an end is. */
  async #fromNearerEnd(wanted: TraceFilter | null, { offset, limit }: Range): Promise<FoundSessions> {
    const total = await this.#places.count(wanted);
    const size = Math.max(Math.min(limit, total - offset), 0);
    const isLate = offset > total / 2;
    const rows = await this.#byLast(wanted, isLate ? 'asc' : 'desc')
      .limit(size)
      .offset(isLate ? Math.max(total - offset - size, 0) : offset)
      .execute();
    return { sessionIds: rows.map(({ session_id }) => session_id), total };
  }

  /** The traces are read once for both: PostgreSQL groups quickly, and a filter without an index costs more than grouping. */
  async #atOnce(wanted: TraceFilter | null, { offset, limit }: Range): Promise<FoundSessions> {
    const { sql } = queryBuilder();
    const rows = await this.database.query
      .with(
        (name) => name('places').materialized(),
        () => this.#byLast(wanted),
      )
      .selectFrom(sql<{ total: number }>`(SELECT count(*) AS total FROM places)`.as('counted'))
      .leftJoin(
        (select) =>
          select
            .selectFrom('places')
            .select('session_id')
            .orderBy('last', 'desc')
            .orderBy('session_id', 'desc')
            .limit(limit)
            .offset(offset)
            .as('page'),
        (join) => join.onTrue(),
      )
      .select(['counted.total', 'page.session_id'])
      .execute();
    const sessionIds = rows.flatMap(({ session_id }) => session_id ?? []);
    return { sessionIds, total: rows[0]?.total ?? 0 };
  }

  #byLast(wanted: TraceFilter | null, direction?: 'asc' | 'desc') {
    const sessions = selected(this.database, wanted, { inOrder: true })
      .select((select) => ['session_id', select.fn.max('start_time').as('last')])
      .groupBy('session_id');
    if (direction === undefined) return sessions;
    return sessions.orderBy('last', direction).orderBy('session_id', direction);
  }

  /** What the traces of these sessions come to that fit. */
  async #statistics(wanted: TraceFilter | null, sessionIds: readonly string[]): Promise<SessionStatistics[]> {
    const { sql } = queryBuilder();
    const found: SessionStatistics[] = [];
    const ofKind = (kind: string) =>
      sql<string | null>`max(CASE WHEN traces.kind = ${sql.lit(kind)} THEN traces.component_id END)`;
    for (let from = 0; from < sessionIds.length; from += sessionsAtOnce) {
      const rows = await selected(this.database, wanted, { apart: true })
        .where('session_id', 'in', sessionIds.slice(from, from + sessionsAtOnce))
        .select((select) => [
          'session_id as sessionId',
          select.fn.max('user_id').as('userId'),
          ofKind('agent').as('agentId'),
          ofKind('team').as('teamId'),
          ofKind('workflow').as('workflowId'),
          select.fn.countAll<number>().as('traces'),
          select.fn.min('start_time').as('first'),
          select.fn.max('start_time').as('last'),
        ])
        .groupBy('session_id')
        .execute();
      found.push(...rows);
    }
    return found.sort(newerFirst);
  }
}

type GroupedRow = Pick<TraceRow, 'session_id' | 'user_id' | 'kind' | 'component_id' | 'start_time'>;

/** The same, over rows that are here already. */
function grouped(rows: readonly GroupedRow[]): SessionStatistics[] {
  const sessions = new Map<string, SessionStatistics>();
  for (const row of rows) {
    const before = sessions.get(row.session_id);
    const ofKind = (kind: string) => (row.kind === kind ? row.component_id : null);
    sessions.set(row.session_id, {
      sessionId: row.session_id,
      userId: greater(before?.userId, row.user_id),
      agentId: greater(before?.agentId, ofKind('agent')),
      teamId: greater(before?.teamId, ofKind('team')),
      workflowId: greater(before?.workflowId, ofKind('workflow')),
      traces: (before?.traces ?? 0) + 1,
      first: Math.min(before?.first ?? row.start_time, row.start_time),
      last: Math.max(before?.last ?? row.start_time, row.start_time),
    });
  }
  return [...sessions.values()].sort(newerFirst);
}

function newerFirst(one: SessionStatistics, other: SessionStatistics): number {
  return other.last - one.last || (one.sessionId < other.sessionId ? 1 : -1);
}

function greater(one: string | null | undefined, other: string | null): string | null {
  if (one === null || one === undefined) return other;
  return other === null || one > other ? one : other;
}
