import type { DataScope } from '../../platform/auth/caller.js';
import type { ListPage } from '../../platform/http/request/pagination.js';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { withValues } from './few-values-store.js';
import type { TraceFilter } from './filter.js';
import { filterCondition, isIndexed } from './filter-store.js';
import { type Range, selected, type TraceRow, withinScope } from './store.js';

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
const groupedHere = 5000;

interface FoundSessions {
  /** In no order. */
  readonly sessionIds: readonly string[];
  readonly total: number;
}

/** How many sessions are read in one statement. */
const sessionsAtOnce = 500;

/** Up to so many sessions are found by going through the traces, the newest first. Beyond, all are grouped. */
const walked = 500;

/** The sessions that the recorded runs belong to. The one with the newest trace comes first. */
export class SessionStatisticsStore {
  constructor(private readonly database: Database) {}

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
    const isNear = range.offset + range.limit <= walked;
    const near = isNear ? await this.#count(wanted) : undefined;
    const { sessionIds, total } =
      near === undefined
        ? await this.#far(wanted, range)
        : { sessionIds: await this.#walked(wanted, range), total: near };
    return { items: await this.#statistics(wanted, sessionIds), total };
  }

  /** The sessions of all traces that fit, unless there are many. */
  async #few(wanted: TraceFilter): Promise<SessionStatistics[] | undefined> {
    if (isIndexed(wanted) && (await this.#isMany(wanted))) return undefined;
    const rows = await selected(this.database, wanted)
      .select(['session_id', 'user_id', 'kind', 'component_id', 'start_time'])
      .limit(groupedHere + 1)
      .execute();
    return rows.length > groupedHere ? undefined : grouped(rows);
  }

  /** An index answers this without reading the traces. */
  async #isMany(wanted: TraceFilter): Promise<boolean> {
    const some = selected(this.database, wanted)
      .select('run_id')
      .limit(groupedHere + 1);
    const { count } = await this.database.query
      .selectFrom(some.as('some'))
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count > groupedHere;
  }

  async #count(wanted: TraceFilter | null): Promise<number> {
    const { sql } = queryBuilder();
    const traces = selected(this.database, wanted, { inOrder: true });
    if (this.database.dialect === 'sqlite') {
      const { count } = await traces
        .select((select) => select.fn.count<number>('session_id').distinct().as('count'))
        .executeTakeFirstOrThrow();
      return count;
    }
    // PostgreSQL groups numbers twice as fast as texts, and sorts nothing for it
    const hashes = traces.select(sql`hashtextextended(traces.session_id, 0)`.as('hash')).groupBy('hash');
    const { count } = await this.database.query
      .selectFrom(hashes.as('sessions'))
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** A session is met at its newest trace: the first ones are found without looking at the others. */
  async #walked(wanted: TraceFilter | null, { offset, limit }: Range): Promise<string[]> {
    const { sql } = queryBuilder();
    const { dialect } = this.database;
    const fits =
      wanted === null ? sql`1 = 1` : filterCondition({ dialect, table: 'newer', apart: true }, wanted);
    const rows = await selected(this.database, wanted, { inOrder: true })
      .select('session_id')
      .where(
        sql<boolean>`NOT EXISTS (SELECT 1 FROM traces AS newer WHERE newer.session_id = traces.session_id
          AND (newer.start_time, newer.run_id) > (traces.start_time, traces.run_id) AND ${fits})`,
      )
      .orderBy('start_time', 'desc')
      .orderBy('session_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map(({ session_id }) => session_id);
  }

  /** Far from the beginning: a part of all sessions by their newest trace, with how many they all are. */
  #far(wanted: TraceFilter | null, range: Range): Promise<FoundSessions> {
    return this.database.dialect === 'sqlite'
      ? this.#fromNearerEnd(wanted, range)
      : this.#atOnce(wanted, range);
  }

  /** SQLite counts from an index alone, and sorts the less the nearer an end is. */
  async #fromNearerEnd(wanted: TraceFilter | null, { offset, limit }: Range): Promise<FoundSessions> {
    const total = await this.#count(wanted);
    const size = Math.max(Math.min(limit, total - offset), 0);
    const isLate = offset > total / 2;
    const rows = await this.#byLast(wanted, isLate ? 'asc' : 'desc')
      .limit(size)
      .offset(isLate ? Math.max(total - offset - size, 0) : offset)
      .execute();
    return { sessionIds: rows.map(({ session_id }) => session_id), total };
  }

  /** PostgreSQL goes through the traces once for both. */
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
