import { setImmediate as nextTurn } from 'node:timers/promises';
import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { ModelPrices } from '../../core/models/prices.js';
import type { Run } from '../../core/runs/run.js';
import { redactContent, traceRedaction } from '../../core/traces/redaction.js';
import { workflowFactsOf } from '../../core/traces/workflow-facts.js';
import { Workflow } from '../../core/workflows/workflow.js';
import type { Caller } from '../../platform/auth/caller.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { StoredScore } from '../live-evals/service.js';
import type { DatabaseTraces, SpanMaking } from './database-service.js';
import { allOf, parseFilter, type TraceFilter } from './filter.js';
import type { SessionStatistics } from './sessions/session-statistics-store.js';
import { type NodeContext, type SpanNode, singleNode, textAt } from './span-node.js';
import type { TraceRow } from './store.js';
import { TextBudget } from './text-budget.js';
import { parseTime } from './times.js';
import {
  detailOf,
  nowIn,
  scoreBody,
  summaryOf,
  type TraceDetail,
  type TracedRow,
  type TraceScore,
  type TraceSummary,
} from './trace-body.js';

/** Where the traces are: one part for each database. */
export interface TraceSpaces {
  choose(query: { readonly db_id?: string | undefined }): Promise<{ readonly traces: DatabaseTraces }>;
}

export interface TracesOptions {
  readonly spaces: TraceSpaces;
  /** Where what a workflow is declared as is looked up. */
  readonly components: { shownOf(run: Run): Promise<unknown> };
  readonly settings: { readonly traceContent: 'full' | 'none'; readonly traceRedact: readonly string[] };
  readonly prices: ModelPrices;
}

/** Which traces a list holds. What is left out does not matter. */
export interface TraceListFilter {
  readonly run_id?: string | undefined;
  readonly session_id?: string | undefined;
  /** Without effect for a caller who sees only their own. */
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly status?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
}

/** A page with how long it took to find it. */
export interface TimedPage<T> extends ListPage<T> {
  readonly searchTimeMs: number;
}

/** A page of any length: how long the list is, and the entries, which are read as they are asked for. */
export interface TracesPage {
  readonly total: number;
  readonly searchTimeMs: number;
  readonly entries: AsyncIterable<TraceSummary>;
}

/** What runs were asked may be long: so many are held at once. */
const summarisedTogether = 100;

/** So many characters of what spans say are put together at once. */
const madeInOneGo = 200_000;

/** How many runs are read together: an answer with many trees holds the journals of at most twice as many. */
const readTogether = 20;

/** What runs did, step by step. A view of their journals: nothing is stored twice. */
export class TracesService {
  private readonly spaces: TraceSpaces;
  private readonly making: SpanMaking;

  constructor({ spaces, components, settings, prices }: TracesOptions) {
    this.spaces = spaces;
    this.making = {
      redaction: traceRedaction(settings.traceContent, settings.traceRedact),
      prices,
      workflow: async (run) => {
        const found = await components.shownOf(run);
        return found instanceof Workflow ? workflowFactsOf(found) : undefined;
      },
    };
  }

  /** One page of the traces that the caller may see, the newest first. The time is that of finding them. */
  async list(
    caller: Caller,
    databaseId: string | undefined,
    filter: TraceListFilter,
    page: PageRequest,
  ): Promise<TracesPage> {
    const wanted = listFilter(caller, filter, 'end_time');
    const traces = await this.traces(databaseId);
    const timed = stopwatch();
    const { items, total } = await traces.store.page(caller.scope, wanted, rangeOf(page));
    const searchTimeMs = timed();
    return { total, searchTimeMs, entries: this.summaries(caller, traces, items) };
  }

  /** A trace with all of its spans that the caller may see. */
  async get(caller: Caller, databaseId: string | undefined, traceId: string): Promise<TraceDetail> {
    const runs = await this.runsOf(caller, databaseId, traceId);
    await makeAttributes(runs);
    const runIds = runs.map(({ row }) => row.run_id);
    const scores = await (await this.traces(databaseId)).scores.of(caller.scope, runIds);
    return { ...detailOf(runs, newContext()), ...this.scoresOf(runIds, scores, 'with reasons') };
  }

  /** One span of a trace. */
  async span(
    caller: Caller,
    databaseId: string | undefined,
    { traceId, spanId }: { readonly traceId: string; readonly spanId: string },
  ): Promise<SpanNode> {
    const runs = await this.runsOf(caller, databaseId, traceId);
    for (const { row, spans } of runs) {
      const span = spans.find((candidate) => candidate.spanId === spanId);
      if (span === undefined) continue;
      return singleNode(span, { now: nowIn(row, Date.now()), budget: new TextBudget(Infinity) });
    }
    throw /^[0-9a-f]{16}$/.test(spanId) ? errors.spanOfOtherTrace(spanId, traceId) : errors.spanNotFound();
  }

  /** One page of the sessions that have traces, the one with the newest first. */
  async sessions(
    caller: Caller,
    databaseId: string | undefined,
    filter: TraceListFilter,
    page: PageRequest,
  ): Promise<TimedPage<SessionStatistics>> {
    return this.sessionsOf(caller, databaseId, listFilter(caller, filter, 'created_at'), page);
  }

  /** One page of the sessions whose traces fit. */
  async searchSessions(
    caller: Caller,
    databaseId: string | undefined,
    filter: JsonObject | null | undefined,
    page: PageRequest,
  ): Promise<TimedPage<SessionStatistics>> {
    return this.sessionsOf(caller, databaseId, parseFilter(filter), page);
  }

  /** One page of the traces that fit, each run with its tree. The time is that of the search alone. */
  async search(
    caller: Caller,
    databaseId: string | undefined,
    filter: JsonObject | null | undefined,
    page: PageRequest,
  ): Promise<TimedPage<TraceDetail>> {
    const wanted = parseFilter(filter);
    const traces = await this.traces(databaseId);
    const timed = stopwatch();
    const { items, total } = await traces.store.page(caller.scope, wanted, rangeOf(page));
    const searchTimeMs = timed();
    return { items: await this.details(caller, traces, items), total, searchTimeMs };
  }

  private async *summaries(
    caller: Caller,
    { store, scores }: DatabaseTraces,
    rows: readonly TraceRow[],
  ): AsyncGenerator<TraceSummary> {
    const { redaction } = this.making;
    const now = Date.now();
    for (let from = 0; from < rows.length; from += summarisedTogether) {
      const some = rows.slice(from, from + summarisedTogether);
      const runIds = some.map(({ run_id }) => run_id);
      const { counts, inputs } = await store.shown(runIds);
      const graded = await scores.of(caller.scope, runIds);
      for (const row of some) {
        const asked = redaction.content === 'none' ? undefined : inputs.get(row.run_id);
        const input = asked === undefined ? undefined : redactContent(redaction, asked);
        const summary = summaryOf(row, { counts: counts.get(row.run_id), input, now });
        yield { ...summary, ...this.scoresOf([row.run_id], graded) };
      }
      await nextTurn();
    }
  }

  private async details(
    caller: Caller,
    traces: DatabaseTraces,
    rows: readonly TraceRow[],
  ): Promise<TraceDetail[]> {
    const details: TraceDetail[] = [];
    const context = newContext();
    const read = async (from: number) => {
      const some = rows.slice(from, from + readTogether);
      const runIds = some.map(({ run_id }) => run_id);
      return Promise.all([traces.traced(some, this.making), traces.scores.of(caller.scope, runIds)]);
    };
    let next = read(0);
    for (let from = 0; from < rows.length; from += readTogether) {
      const [runs, scores] = await next;
      // PostgreSQL reads the next runs while the trees of these are built; a failure is thrown where it is awaited
      next = read(from + readTogether);
      next.catch(() => {});
      await makeAttributes(runs);
      for (const run of runs)
        details.push({ ...detailOf([run], context), ...this.scoresOf([run.row.run_id], scores) });
    }
    return details;
  }

  /** What live evals found. The reason of a judge may repeat what was said: it is shown like what was said. */
  private scoresOf(
    runIds: readonly string[],
    scores: ReadonlyMap<string, readonly StoredScore[]>,
    reasons?: 'with reasons',
  ): { scores?: readonly TraceScore[] } {
    const found = runIds.flatMap((runId) => scores.get(runId) ?? []);
    if (found.length === 0) return {};
    const { redaction } = this.making;
    const shown = (reason: string) =>
      redaction.content === 'none' ? undefined : redactContent(redaction, reason);
    return { scores: found.map((score) => scoreBody(score, reasons === undefined ? undefined : shown)) };
  }

  private async sessionsOf(
    caller: Caller,
    databaseId: string | undefined,
    wanted: TraceFilter | null,
    page: PageRequest,
  ): Promise<TimedPage<SessionStatistics>> {
    const { statistics } = await this.traces(databaseId);
    const timed = stopwatch();
    const found = await statistics.page(caller.scope, wanted, rangeOf(page));
    return { ...found, searchTimeMs: timed() };
  }

  private async runsOf(caller: Caller, databaseId: string | undefined, traceId: string) {
    const traces = await this.traces(databaseId);
    const rows = await traces.store.ofTrace(caller.scope, traceId);
    const [first, ...others] = await traces.traced(rows, this.making);
    if (first === undefined) throw errors.traceNotFound();
    return [first, ...others] as const;
  }

  private async traces(databaseId: string | undefined): Promise<DatabaseTraces> {
    const { traces } = await this.spaces.choose({ db_id: databaseId });
    return traces;
  }
}

/** `until` is the time that `end_time` bounds: that of the end, or that of the creation. */
function listFilter(
  caller: Caller,
  filter: TraceListFilter,
  until: 'end_time' | 'created_at',
): TraceFilter | null {
  const exact = (['run_id', 'session_id', 'agent_id', 'team_id', 'workflow_id', 'status'] as const).map(
    (key) => (filter[key] ? ({ op: 'EQ', key, value: filter[key] } as const) : null),
  );
  const { user_id: userId } = filter;
  const isAsked = userId !== undefined && caller.scope.kind === 'all';
  return allOf([
    ...exact,
    isAsked ? { op: 'EQ', key: 'user_id', value: userId } : null,
    timeFilter('start_time', filter.start_time, { op: 'GTE', key: 'start_time' }),
    timeFilter('end_time', filter.end_time, { op: 'LTE', key: until }),
  ]);
}

function timeFilter(
  field: string,
  value: string | undefined,
  condition: { readonly op: 'GTE' | 'LTE'; readonly key: 'start_time' | 'end_time' | 'created_at' },
): TraceFilter | null {
  if (!value) return null;
  if (parseTime(value) === undefined) throw errors.invalidTime(field);
  return { ...condition, value };
}

function rangeOf(page: PageRequest) {
  return { offset: offsetOf(page), limit: page.limit };
}

function newContext(): NodeContext {
  return { now: Date.now(), budget: new TextBudget() };
}

/** What a model was shown can be long, and there is more of it with each call: others have their turn in between. */
async function makeAttributes(runs: readonly TracedRow[]): Promise<void> {
  let made = 0;
  for (const { attributes } of runs.flatMap(({ spans }) => spans)) {
    made += textAt(attributes['input.value'])?.length ?? 0;
    if (made < madeInOneGo) continue;
    made = 0;
    await nextTurn();
  }
}

/** Milliseconds from now on, with two decimals. */
function stopwatch(): () => number {
  const start = performance.now();
  return () => Math.round((performance.now() - start) * 100) / 100;
}
