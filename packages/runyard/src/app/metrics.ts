import type { z } from 'zod';
import type {
  listMetricsQuery,
  metricsList,
  refreshedDays,
  refreshMetricsQuery,
  refreshStatus,
  refreshStatusQuery,
} from '../capabilities/metrics/schema.js';
import type { Calls } from './calls.js';
import type { Query } from './given.js';

type Days = Omit<Query<typeof listMetricsQuery>, 'starting_date' | 'ending_date'> & {
  /** A day in UTC: `2026-11-01`. */
  readonly starting_date?: string | undefined;
  readonly ending_date?: string | undefined;
};

export type MetricsList = z.output<typeof metricsList>;

/** What the whole service did, day by day, as the operations at `/metrics` show it. */
export class Metrics {
  constructor(private readonly calls: Calls) {}

  days(query: Days = {}): Promise<MetricsList> {
    return this.calls.body<typeof metricsList>('get_metrics', { query });
  }

  /** Counts all days that have changed. With `background`, it resolves at once. */
  refresh(query: Query<typeof refreshMetricsQuery> = {}): Promise<z.output<typeof refreshedDays>> {
    return this.calls.body<typeof refreshedDays>('refresh_metrics', { query });
  }

  refreshStatus(query: Query<typeof refreshStatusQuery> = {}): Promise<z.output<typeof refreshStatus>> {
    return this.calls.body<typeof refreshStatus>('get_metrics_refresh_status', { query });
  }
}
