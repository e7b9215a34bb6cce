import { type PageRequest, pageOf } from '../../platform/http/request/pagination.js';
import { jsonPage } from '../../platform/http/response/json-stream.js';
import { jsonPieces } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { filterSchema } from './filter-fields.js';
import {
  filterSchemaBody,
  listTracesQuery,
  searchPage,
  searchTracesBody,
  searchTracesQuery,
  sessionStatsPage,
  sessionStatsQuery,
  traceOrSpan,
  traceParams,
  traceQuery,
  tracesPage,
} from './schema.js';
import type { TimedPage, TracesService } from './service.js';
import { statisticsBody } from './trace-body.js';

export interface TraceServices {
  readonly traces: TracesService;
}

const listTraces = defineRoute({
  method: 'GET',
  path: '/traces',
  operationId: 'get_traces',
  scope: 'traces:read',
  tag: 'Traces',
  summary: 'List traces',
  description: 'Summaries of what runs did, newest first. A trace must match all filters.',
  query: listTracesQuery,
  responses: { 200: tracesPage },
  handler: async ({ traces }: TraceServices, { query, caller }) => {
    const { entries, total, searchTimeMs } = await traces.list(caller, query.db_id, query, query);
    return jsonPieces(jsonPage(entries, query, total, searchTimeMs));
  },
});

const getFilterSchema = defineRoute({
  method: 'GET',
  path: '/traces/filter-schema',
  operationId: 'get_trace_filter_schema',
  scope: 'traces:read',
  tag: 'Traces',
  summary: 'Get the filter fields for searches',
  responses: { 200: filterSchemaBody },
  handler: () => filterSchema,
});

const searchTraces = defineRoute({
  method: 'POST',
  path: '/traces/search',
  operationId: 'search_traces',
  scope: 'traces:read',
  tag: 'Traces',
  summary: 'Search traces',
  description:
    'Returns the traces that match a filter expression with their span trees, or totals per session.',
  query: searchTracesQuery,
  body: searchTracesBody,
  responses: { 200: searchPage },
  handler: async ({ traces }: TraceServices, { query, body, caller }) => {
    const { filter } = body;
    if (body.group_by === 'run') {
      return timedPage(await traces.search(caller, query.db_id, filter, body), body);
    }
    const { items, ...found } = await traces.searchSessions(caller, query.db_id, filter, body);
    return timedPage({ ...found, items: items.map(statisticsBody) }, body);
  },
});

const getTrace = defineRoute({
  method: 'GET',
  path: '/traces/:trace_id',
  operationId: 'get_trace',
  scope: 'traces:read',
  tag: 'Traces',
  summary: 'Get a trace',
  description: 'Returns the trace with its span tree; with span_id, one span in full detail.',
  params: traceParams,
  query: traceQuery,
  responses: { 200: traceOrSpan },
  handler: ({ traces }: TraceServices, { params, query, caller }) => {
    const { trace_id: traceId } = params;
    const { span_id: spanId, db_id: databaseId } = query;
    return spanId
      ? traces.span(caller, databaseId, { traceId, spanId })
      : traces.get(caller, databaseId, traceId);
  },
});

const getSessionStats = defineRoute({
  method: 'GET',
  path: '/trace_session_stats',
  operationId: 'get_trace_session_stats',
  scope: 'traces:read',
  tag: 'Traces',
  summary: 'Get trace totals per session',
  description: 'The session with the newest trace first. Filters apply before counting.',
  query: sessionStatsQuery,
  responses: { 200: sessionStatsPage },
  handler: async ({ traces }: TraceServices, { query, caller }) => {
    const { items, ...found } = await traces.sessions(caller, query.db_id, query, query);
    return timedPage({ ...found, items: items.map(statisticsBody) }, query);
  },
});

export const traceRoutes: readonly Route<TraceServices>[] = [
  listTraces,
  getFilterSchema,
  searchTraces,
  getTrace,
  getSessionStats,
];

function timedPage<T>({ items, total, searchTimeMs }: TimedPage<T>, page: PageRequest) {
  return pageOf(items, page, total, searchTimeMs);
}
