import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SelectQueryBuilder } from 'kysely';
import { unpackSteps } from '../../core/runs/journal/packed-journal.js';
import { inheritedAttempt, type RunInput, type StepKind, type StepRecord } from '../../core/runs/run.js';
import { spanStepKinds } from '../../core/traces/span.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { ListPage } from '../../platform/http/request/pagination.js';
import type { Database, ListReads } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { Schema } from '../../platform/storage/schema.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import { withValues } from './few-values-store.js';
import { allOf, type TraceFilter } from './filter.js';
import { type FilterPlace, filterCondition, isIndexed, isOfAnother, runOfTrace } from './filter-store.js';
import type { TracesTable } from './tables.js';

/** One recorded run. */
export type TraceRow = TracesTable;

export interface Range {
  readonly offset: number;
  readonly limit: number;
}

/** How many steps of a run are spans, beside the run itself, and how many of them failed. */
export interface SpanCounts {
  readonly spans: number;
  readonly failed: number;
}

export interface ShownRuns {
  /** Those of runs without such steps are left out. */
  readonly counts: ReadonlyMap<string, SpanCounts>;
  /** What the runs were asked; those of runs that are gone are left out. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** Up to so many matching traces are sorted here, so that a filter without index costs one scan of the table. */
const sortedHere = 1000;

/** Rows are read in pieces of this size, however large a page is. */
const pieceSize = 500;

/** How many runs of one trace are shown. Only a caller who puts many runs into one trace of their own gets there. */
const runsOfTrace = 100;

/** The recorded runs of one database. Lists have the newest first. */
export class TraceStore {
  constructor(private readonly database: Database) {}

  async page(scope: DataScope, filter: TraceFilter | null, range: Range): Promise<ListPage<TraceRow>> {
    const given = withinScope(scope, filter);
    const wanted = given && (await withValues(this.database.lists, given));
    const counted = wanted === null || isIndexed(wanted) ? await this.#count(wanted) : undefined;
    if (wanted !== null && (counted ?? 0) <= sortedHere) {
      const found = await this.#places(wanted);
      if (found !== undefined) {
        const runIds = found.slice(range.offset, range.offset + range.limit).map(({ run_id }) => run_id);
        return { items: await this.#rows(runIds), total: found.length };
      }
    }
    const total = counted ?? (await this.#count(wanted));
    return { items: range.offset < total ? await this.#newestFirst(wanted, range, total) : [], total };
  }

  /** The runs of a trace that the scope shows, the earliest first. */
  async ofTrace(scope: DataScope, traceId: string): Promise<TraceRow[]> {
    const shown = () =>
      selected(this.database, withinScope(scope, null)).selectAll().where('trace_id', '=', traceId);
    const own = await shown().where('run_id', '=', runOfTrace(traceId)).execute();
    const others = await shown()
      .where(isOfAnother('traces'))
      .orderBy('start_time')
      .orderBy('run_id')
      .limit(runsOfTrace)
      .execute();
    return [...own, ...others].sort((one, other) => newerFirst(other, one)).slice(0, runsOfTrace);
  }

  /** What lists show of runs beside their rows here, by run id. */
  async shown(runIds: readonly string[]): Promise<ShownRuns> {
    const counts = new Map<string, SpanCounts>();
    const inputs = new Map<string, string>();
    for (const piece of piecesOf(runIds)) {
      for (const { run_id, spans, failed } of await this.#countedSteps(piece))
        counts.set(run_id, { spans, failed });
      const rows = await this.database.lists.query
        .selectFrom('runs')
        .select(['run_id', 'input', 'packed_steps'])
        .select((select) =>
          select.case().when('packed_steps', 'is not', null).then(select.ref('result')).end().as('result'),
        )
        .where('run_id', 'in', piece)
        .execute();
      for (const { run_id, input, packed_steps, result } of rows) {
        inputs.set(run_id, storedJson<RunInput>(input).content);
        // the steps of a run that ended with its first write
        const steps =
          packed_steps === null ? [] : unpackSteps(run_id, packed_steps, storedJsonOrNull(result));
        const spans = steps.filter(isOwnSpan);
        if (spans.length > 0)
          counts.set(run_id, { spans: spans.length, failed: spans.filter(hasFailed).length });
      }
    }
    return { counts, inputs };
  }

  #countedSteps(runIds: string[]) {
    return this.database.lists.query
      .selectFrom('steps')
      .select(['run_id', (select) => select.fn.countAll<number>().as('spans')])
      .select((select) =>
        select.fn
          .count<number>(
            select
              .case()
              .when(select.or([select('status', '=', 'error'), select('error', 'is not', null)]))
              .then(1)
              .end(),
          )
          .as('failed'),
      )
      .where('run_id', 'in', runIds)
      .where('kind', 'in', spanStepKinds)
      .where('attempt', '<>', inheritedAttempt)
      .groupBy('run_id')
      .execute();
  }

  /** All that fit, in their order, unless there are many of them. */
  async #places(wanted: TraceFilter) {
    const places = await selected(this.database.lists, wanted)
      .select(['run_id', 'start_time'])
      .limit(sortedHere + 1)
      .execute();
    return places.length > sortedHere ? undefined : places.sort(newerFirst);
  }

  async #count(wanted: TraceFilter | null): Promise<number> {
    // a filter without index: one scan of the index that holds all columns, instead of many reads of the table
    const apart = wanted !== null && !isIndexed(wanted);
    const { count } = await selected(this.database.lists, wanted, { apart })
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async #rows(runIds: readonly string[]): Promise<TraceRow[]> {
    const rows: TraceRow[] = [];
    for (const piece of piecesOf(runIds)) {
      const read = this.database.lists.query.selectFrom('traces').selectAll().where('run_id', 'in', piece);
      rows.push(...(await read.execute()));
      await nextTurn();
    }
    return rows.sort(newerFirst);
  }

  /** The places of a page are found in an index alone, however many come before it; its rows are read by their ids. */
  async #newestFirst(
    wanted: TraceFilter | null,
    { offset, limit }: Range,
    total: number,
  ): Promise<TraceRow[]> {
    const left = Math.min(limit, total - offset);
    if (left <= pieceSize && offset > total / 2) {
      const range = { offset: total - offset - left, limit: left };
      return this.#rows(await this.#pieceOf(wanted, range, 'asc'));
    }
    const rows: TraceRow[] = [];
    while (rows.length < limit) {
      const size = Math.min(pieceSize, limit - rows.length);
      const range = { offset: rows.length === 0 ? offset : 0, limit: size };
      const piece = await this.#pieceOf(wanted, range, 'desc', rows.at(-1));
      rows.push(...(await this.#rows(piece)));
      if (piece.length < size) break;
    }
    return rows;
  }

  async #pieceOf(
    wanted: TraceFilter | null,
    { offset, limit }: Range,
    direction: 'asc' | 'desc',
    last?: TraceRow,
  ): Promise<string[]> {
    const apart = wanted !== null && !isIndexed(wanted);
    const all = selected(this.database.lists, wanted, { inOrder: true, apart })
      .select('run_id')
      .orderBy('start_time', direction)
      .orderBy('run_id', direction);
    const rest = last === undefined ? all : all.where(olderThan(last));
    return (await rest.limit(limit).offset(offset).execute()).map(({ run_id }) => run_id);
  }
}

/** What the scope shows of what is wanted. */
export function withinScope(scope: DataScope, filter: TraceFilter | null): TraceFilter | null {
  if (scope.kind === 'all') return filter;
  return scope.kind === 'unowned'
    ? allOf([{ op: 'MISSING', key: 'user_id' }, filter])
    : allOf([{ op: 'EQ', key: 'user_id', value: scope.userId }, filter]);
}

/** The traces that fit. */
export function selected(
  { query, dialect }: ListReads,
  wanted: TraceFilter | null,
  how: Pick<FilterPlace, 'inOrder' | 'apart'> = {},
): SelectQueryBuilder<Schema, 'traces', object> {
  const all = query.selectFrom('traces');
  return wanted === null ? all : all.where(filterCondition({ dialect, table: 'traces', ...how }, wanted));
}

const spanKinds: ReadonlySet<StepKind> = new Set(spanStepKinds);

function isOwnSpan({ kind, attempt }: StepRecord): boolean {
  return spanKinds.has(kind) && attempt !== inheritedAttempt;
}

function hasFailed({ status, error }: StepRecord): boolean {
  return status === 'error' || error !== null;
}

type Place = Pick<TraceRow, 'start_time' | 'run_id'>;

function newerFirst(one: Place, other: Place): number {
  return other.start_time - one.start_time || (one.run_id < other.run_id ? 1 : -1);
}

function olderThan({ start_time, run_id }: Place) {
  const { sql } = queryBuilder();
  return sql<boolean>`(traces.start_time, traces.run_id) < (${start_time}, ${run_id})`;
}

function piecesOf(ids: readonly string[]): string[][] {
  const count = Math.ceil(ids.length / pieceSize);
  return Array.from({ length: count }, (_, index) => ids.slice(index * pieceSize, (index + 1) * pieceSize));
}
