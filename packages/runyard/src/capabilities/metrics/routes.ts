import { reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { dayBodyOf, metricsBodyOf, statusBodyOf } from './metrics-body.js';
import {
  listMetricsQuery,
  metricsList,
  refreshedDays,
  refreshMetricsQuery,
  refreshStarted,
  refreshStatus,
  refreshStatusQuery,
} from './schema.js';
import type { MetricsService } from './service.js';

export interface MetricsServices {
  readonly metrics: MetricsService;
}

const listMetrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  operationId: 'get_metrics',
  scope: 'metrics:read',
  tag: 'Metrics',
  summary: 'Daily metrics',
  description:
    'Runs, sessions, users and tokens of the whole service, per day in UTC. Changed days are counted again first. ' +
    'Days without activity are left out.',
  query: listMetricsQuery,
  responses: { 200: metricsList },
  handler: async ({ metrics }: MetricsServices, { query }) => {
    const { starting_date: from, ending_date: to } = query;
    const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    return metricsBodyOf(await metrics.days(query, range));
  },
});

const refreshMetrics = defineRoute({
  method: 'POST',
  path: '/metrics/refresh',
  operationId: 'refresh_metrics',
  scope: 'metrics:write',
  tag: 'Metrics',
  summary: 'Refresh the metrics',
  description:
    'Counts all days that have changed or are not over. Returns them, or returns 202 immediately ' +
    'if background is true.',
  query: refreshMetricsQuery,
  responses: {
    200: { description: 'The days that this refresh counted.', schema: refreshedDays },
    202: refreshStarted,
  },
  handler: async ({ metrics }: MetricsServices, { query }) => {
    if (!query.background) return (await metrics.refresh(query)).map(dayBodyOf);
    const started = await metrics.startRefresh(query);
    return reply(202, started ? startedBody : runningBody);
  },
});

const getRefreshStatus = defineRoute({
  method: 'GET',
  path: '/metrics/refresh/status',
  operationId: 'get_metrics_refresh_status',
  scope: 'metrics:read',
  tag: 'Metrics',
  summary: 'Get the status of the last refresh',
  description: 'All processes of the service return the same status, also after a restart.',
  query: refreshStatusQuery,
  responses: { 200: refreshStatus },
  handler: async ({ metrics }: MetricsServices, { query }) => statusBodyOf(await metrics.status(query)),
});

export const metricsRoutes: readonly Route<MetricsServices>[] = [
  listMetrics,
  refreshMetrics,
  getRefreshStatus,
];

const startedBody = { status: 'started', message: 'Metrics refresh started in background' };

const runningBody = {
  status: 'already_running',
  message: 'A metrics refresh is already in progress for this database',
};
