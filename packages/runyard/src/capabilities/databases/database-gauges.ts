import type { Database, PoolUse } from '../../platform/storage/database.js';
import type { InstrumentOptions } from '../../platform/telemetry/metrics/instruments.js';
import type { MetricRegistry } from '../../platform/telemetry/metrics/registry.js';

/** How the databases are, and how their pools are used. Nothing is asked of them for it. */
export function addDatabaseGauges(registry: MetricRegistry, databases: readonly Database[]): void {
  registry.gauge(
    {
      name: 'runyard_database_up',
      help: '1 while the last calls reached the database and it stored; else 0.',
      labels: ['database'],
    },
    () => databases.map(({ id, outage }) => ({ labels: [id], value: outage === undefined ? 1 : 0 })),
  );
  const ofPools = (options: Pick<InstrumentOptions, 'name' | 'help'>, read: (use: PoolUse) => number) =>
    registry.gauge({ ...options, labels: ['database', 'pool'] }, () =>
      databases.flatMap((database) =>
        database.pools.map((use) => ({ labels: [database.id, use.name], value: read(use) })),
      ),
    );
  ofPools({ name: 'runyard_pool_in_use', help: 'Connections in use.' }, ({ inUse }) => inUse);
  ofPools(
    { name: 'runyard_pool_idle', help: 'Open connections that are not in use.' },
    ({ open, inUse }) => open - inUse,
  );
  ofPools(
    { name: 'runyard_pool_waiting', help: 'Calls that wait for a connection.' },
    ({ waiting }) => waiting,
  );
  ofPools(
    { name: 'runyard_pool_max', help: 'The most connections that the pool opens.' },
    ({ size }) => size,
  );
}
