import { z } from 'zod';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../platform/http/request/database-query.js';
import { formBoolean } from '../../platform/http/request/fields.js';
import { tokenFields } from './daily-metrics.js';
import { dateField } from './date-field.js';

const time = () => z.string().meta({ format: 'date-time' });

export const listMetricsQuery = lazyObject(() => ({
  starting_date: dateField()
    .optional()
    .meta({ description: 'The first day to show, YYYY-MM-DD in UTC.', examples: ['2026-11-01'] }),
  ending_date: dateField()
    .optional()
    .meta({ description: 'The last day to show, YYYY-MM-DD in UTC.', examples: ['2026-11-30'] }),
  ...databaseQuery(),
}));

export const refreshMetricsQuery = lazyObject(() => ({
  background: formBoolean()
    .default(false)
    .meta({ description: 'true: the response is immediate, and the refresh runs in the background.' }),
  ...databaseQuery(),
}));

export const refreshStatusQuery = lazyObject(databaseQuery);

const tokenMetrics = lazyObject(() => Object.fromEntries(tokenFields.map((field) => [field, z.int()])), {
  id: 'TokenMetrics',
  description: 'The tokens that all runs of a day used.',
});

const modelMetrics = lazyObject(
  () => ({
    model_id: z.string(),
    model_provider: z.string(),
    count: z.int().meta({ description: 'The number of runs with this main model.' }),
  }),
  { id: 'ModelMetrics', description: 'How often a model was the main model of a run.' },
);

const evalMetrics = lazyObject(
  () => ({
    eval: z.string(),
    type: z.enum(['agent', 'team', 'workflow']),
    component_id: z.string(),
    graded: z.int().meta({ description: 'Runs with a score of each scorer.' }),
    incomplete: z.int().meta({ description: 'Runs with a scorer that failed.' }),
    pending: z.int().meta({ description: 'Runs that wait to be graded.' }),
    failed: z.int().meta({ description: 'Runs that failed. They are not graded.' }),
    skipped: z.int().meta({ description: 'Runs beyond the hourly limit of the eval.' }),
    scorers: z.array(
      z.object({
        scorer: z.string(),
        count: z.int(),
        mean_score: z.number().nullable(),
        pass_rate: z.number().nullable().meta({ description: 'In percent.' }),
      }),
    ),
  }),
  {
    id: 'EvalMetrics',
    description: 'What a live eval found out about the runs of a day.',
    'x-addition': true,
  },
);

const dayMetrics = lazyObject(
  () => ({
    id: z.string(),
    agent_runs_count: z.int(),
    agent_sessions_count: z.int(),
    team_runs_count: z.int().meta({ description: 'Includes the runs of members.' }),
    team_sessions_count: z.int(),
    workflow_runs_count: z.int(),
    workflow_sessions_count: z.int(),
    users_count: z.int().meta({ description: 'Distinct users with a run or a new session.' }),
    token_metrics: tokenMetrics,
    model_metrics: z.array(modelMetrics),
    eval_metrics: z
      .array(evalMetrics)
      .optional()
      .meta({ description: 'The results of live evals, if there are any.', 'x-addition': true }),
    date: time().meta({ description: 'Midnight UTC at the start of the day.' }),
    created_at: time(),
    updated_at: time(),
  }),
  { id: 'DayMetrics', description: 'The metrics of a day.' },
);

export const metricsList = lazyObject(
  () => ({
    metrics: z.array(dayMetrics),
    updated_at: time().nullable().meta({ description: 'When any day was last counted.' }),
  }),
  { id: 'MetricsList', description: 'Daily metrics, earliest day first.' },
);

export const refreshStarted = lazyObject(
  () => ({
    status: z.literal(['started', 'already_running']),
    message: z.string(),
  }),
  { id: 'MetricsRefreshStarted', description: 'Whether a refresh was started.' },
);

/** The contract describes both under one status. */
export const refreshedDays = lazySchema(() => z.union([z.array(dayMetrics), refreshStarted]));

export const refreshStatus = lazyObject(
  () => ({
    status: z.literal(['idle', 'running', 'completed', 'failed']),
    started_at: time().nullable(),
    finished_at: time().nullable(),
    error: z.string().nullable(),
  }),
  { id: 'MetricsRefreshStatus', description: 'The status of the last refresh.' },
);
