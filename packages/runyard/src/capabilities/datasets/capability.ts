import type { Capability } from '../capability.js';
import { DatabaseDatasets } from './database-datasets.js';
import { datasets as datasetTables } from './migrations/0019-datasets.js';
import { type DatasetServices, datasetRoutes } from './routes.js';
import { DatasetsService } from './service.js';

declare module '../capability.js' {
  interface Services extends DatasetServices {}
  interface RunSpace {
    readonly datasets: DatabaseDatasets;
  }
}

/** Stored datasets of evals. */
export const datasets: Capability = {
  name: 'datasets',
  migrations: [datasetTables],
  routes: datasetRoutes,
  open: ({ spaces, services }) => ({
    services: { datasets: new DatasetsService(spaces, services.runs) },
    inDatabase: (database) => ({ parts: { datasets: new DatabaseDatasets(database) } }),
  }),
};
