import type { Database } from '../../../platform/storage/database.js';
import { queryBuilder } from '../../../platform/storage/query-builder.js';
import type { TraceFilter } from '../filter.js';
import { filterCondition } from '../filter-store.js';
import { type Range, selected } from '../store.js';

/** Where a session is in the order: at its newest trace. Sessions with the same time stand in the order of their ids. */
export interface SessionPlace {
  readonly last: number;
  readonly session_id: string;
}

/** A session with new traces, and where it stood without them; null when it is new. */
export interface MovedSession {
  readonly session_id: string;
  readonly before: number | null;
}

/** So many of the oldest traces say whether old ones were removed. */
const oldestTraces = 20;

/** Finds sessions by their traces, those with the newest trace first. */
export class SessionPlacesStore {
  constructor(readonly database: Database) {}

  /** How many sessions have traces that fit and began until a time. */
  async count(wanted: TraceFilter | null, until?: number): Promise<number> {
    const { sql } = queryBuilder();
    const traces = this.#until(wanted, until);
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

  /**
   * A session is met at its newest trace: the ones at the beginning, or after a place, are found without looking at the
   * others.
   */
  async walked(
    wanted: TraceFilter | null,
    { offset, limit }: Range,
    after?: SessionPlace,
  ): Promise<string[]> {
    const { sql } = queryBuilder();
    const { dialect } = this.database;
    const fits =
      wanted === null ? sql`1 = 1` : filterCondition({ dialect, table: 'newer', apart: true }, wanted);
    let traces = selected(this.database, wanted, { inOrder: true })
      .select('session_id')
      .where(
        sql<boolean>`NOT EXISTS (SELECT 1 FROM traces AS newer WHERE newer.session_id = traces.session_id
          AND (newer.start_time, newer.run_id) > (traces.start_time, traces.run_id) AND ${fits})`,
      );
    if (after !== undefined)
      traces = traces
        .where('start_time', '<=', after.last)
        .where(sql<boolean>`(traces.start_time, traces.session_id) < (${after.last}, ${after.session_id})`);
    const rows = await traces
      .orderBy('start_time', 'desc')
      .orderBy('session_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map(({ session_id }) => session_id);
  }

  /** Every `distance`th session of those with traces until a time, and how many they are. */
  async marks(
    wanted: TraceFilter | null,
    until: number,
    distance: number,
  ): Promise<{ readonly total: number; readonly marks: readonly SessionPlace[] }> {
    const { sql } = queryBuilder();
    const places = this.#until(wanted, until)
      .select((select) => ['session_id', select.fn.max('start_time').as('last')])
      .groupBy('session_id');
    const numbered = this.database.query
      .selectFrom(places.as('places'))
      .select(['session_id', 'last'])
      .select(sql<number>`row_number() OVER (ORDER BY last DESC, session_id DESC)`.as('place'))
      .select(sql<number>`count(*) OVER ()`.as('total'));
    const rows = await this.database.query
      .selectFrom(numbered.as('numbered'))
      .selectAll()
      .where(sql<boolean>`place % ${sql.lit(distance)} = 0 OR place = total`)
      .orderBy('place')
      .execute();
    const total = rows.at(-1)?.total ?? 0;
    return { total, marks: rows.filter(({ place }) => place % distance === 0) };
  }

  /** The sessions with traces after a time. */
  async movedSince(wanted: TraceFilter | null, time: number): Promise<MovedSession[]> {
    const { sql } = queryBuilder();
    const { dialect } = this.database;
    const fits =
      wanted === null ? sql`1 = 1` : filterCondition({ dialect, table: 'older', apart: true }, wanted);
    const before = sql<number | null>`(SELECT max(older.start_time) FROM traces AS older
      WHERE older.session_id = traces.session_id AND older.start_time <= ${time} AND ${fits})`;
    return (
      selected(this.database, wanted, { inOrder: true })
        .where('start_time', '>', time)
        .select(['session_id', before.as('before')])
        // SQLite would go through all traces in the order of their sessions otherwise
        .groupBy(dialect === 'sqlite' ? sql`+traces.session_id` : 'session_id')
        .execute()
    );
  }

  /** When the newest trace began, and which the oldest ones are. */
  async ends(): Promise<{ readonly newest: number | undefined; readonly oldest: string }> {
    const { query } = this.database;
    const { newest } = await query
      .selectFrom('traces')
      .select((select) => select.fn.max<number | null>('start_time').as('newest'))
      .executeTakeFirstOrThrow();
    if (newest === null) return { newest: undefined, oldest: '' };
    const oldest = await query
      .selectFrom('traces')
      .select('run_id')
      .where('start_time', '<=', newest)
      .orderBy('start_time')
      .orderBy('run_id')
      .limit(oldestTraces)
      .execute();
    return { newest, oldest: oldest.map(({ run_id }) => run_id).join(' ') };
  }

  #until(wanted: TraceFilter | null, until: number | undefined) {
    const traces = selected(this.database, wanted, { inOrder: true });
    return until === undefined ? traces : traces.where('start_time', '<=', until);
  }
}
