import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Capability } from '../capability.js';
import { usage } from './migrations/0007-usage.js';
import { type MetricsServices, metricsRoutes } from './routes.js';
import { DatabaseMetrics, MetricsService } from './service.js';

declare module '../capability.js' {
  interface Services extends MetricsServices {}
  interface RunSpace {
    readonly metrics: DatabaseMetrics;
  }
}

export const metrics: Capability = {
  name: 'metrics',
  migrations: [usage],
  routes: metricsRoutes,
  section: { name: 'metrics', table: 'daily_metrics' },
  open: ({ spaces, log }) => ({
    services: { metrics: new MetricsService(spaces) },
    inDatabase(database) {
      const metrics = new DatabaseMetrics(database, { timers: systemTimers, log });
      return { parts: { metrics }, stop: () => metrics.stop() };
    },
  }),
};
