import type { Capability } from '../capability.js';
import { addDatabaseGauges } from './database-gauges.js';
import { type DatabaseServices, databaseRoutes } from './routes.js';
import { DatabasesService } from './service.js';

declare module '../capability.js' {
  interface Services extends DatabaseServices {}
}

/** The schemas of the databases: which versions they have, and migrations. */
export const databases: Capability = {
  name: 'databases',
  routes: databaseRoutes,
  open({ spaces, databases: all, metrics, log }) {
    if (metrics !== undefined) addDatabaseGauges(metrics.registry, all);
    return { services: { databases: new DatabasesService(spaces, log) } };
  },
};
