import { z } from 'zod';
import type { Json } from '../../core/json.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';

const database = () => ({
  db_id: z.string().optional().meta({
    description: 'The id of the database; required if the service has several.',
  }),
});

const ownerFilters = () => ({
  user_id: z.string().optional().meta({
    description: 'Only traces of this user. Ignored for callers who see only their own.',
  }),
  agent_id: z.string().optional().meta({ description: 'Only traces of runs of this agent.' }),
  team_id: z.string().optional().meta({ description: 'Only traces of runs of this team.' }),
  workflow_id: z.string().optional().meta({ description: 'Only traces of runs of this workflow.' }),
});

const isoTime = (description: string) =>
  z
    .string()
    .optional()
    .meta({
      description: `${description} ISO 8601 with any offset; UTC if it has none.`,
      examples: ['2026-01-31T10:00:00Z'],
    });

export const listTracesQuery = lazyObject(() => ({
  run_id: z.string().optional().meta({ description: 'Only the trace of this run.' }),
  session_id: z.string().optional().meta({ description: 'Only traces of this session.' }),
  ...ownerFilters(),
  status: z.string().optional().meta({ description: 'Only traces with this status: OK, ERROR or UNSET.' }),
  start_time: isoTime('Only traces that started at this time or later.'),
  end_time: isoTime('Only traces that ended at this time or earlier.'),
  ...pageQuery({ default: 20, firstPage: 0 }),
  ...database(),
}));

export const sessionStatsQuery = lazyObject(() => ({
  ...ownerFilters(),
  start_time: isoTime('Only traces that were created at this time or later.'),
  end_time: isoTime('Only traces that were created at this time or earlier.'),
  ...pageQuery({ default: 20 }),
  ...database(),
}));

export const traceParams = lazyObject(() => ({
  trace_id: z.string().meta({ description: 'The identifier of the trace: 32 hexadecimal digits.' }),
}));

export const traceQuery = lazyObject(() => ({
  span_id: z.string().optional().meta({ description: 'Only this span, with its input and output.' }),
  run_id: z.string().optional().meta({ description: 'Has no effect.' }),
  ...database(),
}));

export const searchTracesQuery = lazyObject(database);

export const searchTracesBody = lazyObject(
  () => ({
    filter: z.record(z.string(), z.custom<Json>()).nullish().meta({
      description: 'An expression in the filter language. If omitted: all traces.',
    }),
    group_by: z
      .enum(['run', 'session'])
      .default('run')
      .meta({ description: 'run: each run with its span tree; session: totals per session.' }),
    page: z.int().min(1).default(1),
    limit: z.int().min(1).max(100).default(20),
  }),
  {
    id: 'TraceSearch',
    description: 'The traces to search for.',
    examples: [{ filter: { op: 'EQ', key: 'status', value: 'ERROR' }, group_by: 'run' }],
  },
);

const time = () => z.string().meta({ description: 'ISO 8601, UTC.' });
const duration = () => z.string().meta({ description: 'For example 27ms or 1.39s.' });

const spanStatus = lazySchema(() => z.enum(['OK', 'ERROR', 'UNSET']));

const spanNode = lazyObject(
  () => ({
    id: z.string(),
    name: z.string(),
    type: z.string().meta({ description: 'AGENT, TEAM, WORKFLOW, LLM, TOOL or another kind of work.' }),
    duration: duration(),
    start_time: time(),
    end_time: time(),
    status: spanStatus,
    input: z.string().optional(),
    output: z.string().optional(),
    error: z.string().optional(),
    step_type: z.string().optional().meta({ description: 'The type of the workflow step.' }),
    metadata: z.looseObject({}).optional(),
    extra_data: z.looseObject({}).optional().meta({ description: 'Not used.' }),
    get spans() {
      return z.array(spanNode).optional();
    },
  }),
  {
    id: 'TraceSpan',
    description: 'A unit of work in a trace. Fields without a value are left out.',
  },
);

const traceScore = lazyObject(
  () => ({
    run_id: z.string(),
    eval: z.string(),
    scorer: z.string(),
    score: z.number().nullable(),
    passed: z.boolean().nullable().meta({ description: 'null: the scorer has no threshold.' }),
    reason: z.string().optional().meta({ description: 'Only in the response for one trace.' }),
    judge_model: z.object({ id: z.string(), provider: z.string() }).optional(),
    created_at: time(),
  }),
  { id: 'TraceScore', description: 'What a live eval found out about the run.', 'x-addition': true },
);

const summaryFields = () => ({
  trace_id: z.string(),
  name: z.string(),
  status: spanStatus.meta({ description: 'ERROR: the run failed; UNSET: it is in progress.' }),
  duration: duration(),
  start_time: time(),
  end_time: time(),
  total_spans: z.int(),
  error_count: z
    .int()
    .meta({ description: 'The number of failed spans, including those that the run recovered from.' }),
  input: z.string().optional(),
  run_id: z.string().optional(),
  session_id: z.string().optional(),
  user_id: z.string().optional(),
  agent_id: z.string().optional(),
  team_id: z.string().optional(),
  workflow_id: z.string().optional(),
  created_at: time(),
  scores: z
    .array(traceScore)
    .optional()
    .meta({ description: 'The scores of live evals, if there are any.', 'x-addition': true }),
});

const traceSummary = lazyObject(summaryFields, {
  id: 'TraceSummary',
  description: 'A summary of what one run did. Fields without a value are left out.',
});

const traceDetail = lazyObject(
  () => ({
    ...summaryFields(),
    output: z.string().optional(),
    error: z.string().optional(),
    tree: z.array(spanNode),
  }),
  { id: 'TraceDetail', description: 'What one run did, step by step.' },
);

const sessionStats = lazyObject(
  () => ({
    session_id: z.string(),
    user_id: z.string().optional(),
    agent_id: z.string().optional(),
    team_id: z.string().optional(),
    workflow_id: z.string().optional(),
    total_traces: z.int(),
    first_trace_at: time(),
    last_trace_at: time(),
  }),
  { id: 'TraceSessionStats', description: 'The trace totals of one session.' },
);

export const tracesPage = pageBody(traceSummary, 'TracesPage');
export const sessionStatsPage = pageBody(sessionStats, 'TraceSessionStatsPage');
export const searchPage = lazySchema(() => pageBody(z.union([traceDetail, sessionStats]), 'TraceSearchPage'));
export const traceOrSpan = lazySchema(() => z.union([traceDetail, spanNode]));

export const filterSchemaBody = lazyObject(
  () => ({
    fields: z.array(
      z.object({
        key: z.string(),
        label: z.string(),
        type: z.enum(['enum', 'string', 'number', 'datetime']),
        operators: z.array(z.string()),
        values: z.array(z.string()).nullable(),
      }),
    ),
    logical_operators: z.array(z.string()),
  }),
  { id: 'TraceFilterSchema', description: 'The filter fields that a user interface can offer.' },
);
