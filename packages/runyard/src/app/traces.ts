import type { z } from 'zod';
import type {
  filterSchemaBody,
  listTracesQuery,
  searchPage,
  searchTracesBody,
  searchTracesQuery,
  sessionStatsPage,
  sessionStatsQuery,
  traceOrSpan,
  traceQuery,
  tracesPage,
} from '../capabilities/traces/schema.js';
import type { Calls } from './calls.js';
import type { Body, Query } from './given.js';
import { type Listing, pagesOf } from './listing.js';

type Page = z.output<typeof tracesPage>;
export type TraceSummary = Page['data'][number];
export type TraceDetail = Extract<z.output<typeof traceOrSpan>, { readonly trace_id: string }>;
export type TraceSpan = Exclude<z.output<typeof traceOrSpan>, { readonly trace_id: string }>;
type Found = z.output<typeof searchPage>;
type Statistics = z.output<typeof sessionStatsPage>;

/** What runs did, as the operations at `/traces` show it. */
export class Traces {
  constructor(private readonly calls: Calls) {}

  list(query: Query<typeof listTracesQuery> = {}): Listing<Page, TraceSummary> {
    return pagesOf(query, (paged) => this.calls.body<typeof tracesPage>('get_traces', { query: paged }));
  }

  /** A trace with its tree of spans; with `span_id`, one span with its input and output. */
  get(traceId: string, query: Query<typeof traceQuery> & { readonly span_id: string }): Promise<TraceSpan>;
  get(traceId: string, query?: Query<typeof traceQuery>): Promise<TraceDetail>;
  get(traceId: string, query: Query<typeof traceQuery> = {}): Promise<TraceDetail | TraceSpan> {
    return this.calls.body<typeof traceOrSpan>('get_trace', { params: { trace_id: traceId }, query });
  }

  /** Those that match an expression of the filter language, with their spans; or totals by session. */
  search(
    body: Body<typeof searchTracesBody> = {},
    query: Query<typeof searchTracesQuery> = {},
  ): Listing<Found, Found['data'][number]> {
    return pagesOf(body, (paged) =>
      this.calls.body<typeof searchPage>('search_traces', { query, body: paged }),
    );
  }

  /** Totals by session. */
  sessions(query: Query<typeof sessionStatsQuery> = {}): Listing<Statistics, Statistics['data'][number]> {
    return pagesOf(query, (paged) =>
      this.calls.body<typeof sessionStatsPage>('get_trace_session_stats', { query: paged }),
    );
  }

  /** The fields and operators that `search` takes. */
  filterSchema(): Promise<z.output<typeof filterSchemaBody>> {
    return this.calls.body<typeof filterSchemaBody>('get_trace_filter_schema', {});
  }
}
