import type { NumberPoint } from '../../../platform/telemetry/metrics/instruments.js';
import type { MetricRegistry } from '../../../platform/telemetry/metrics/registry.js';
import type { ServiceSite } from '../../capability.js';
import { mostCounted, queueDepth } from './queue-depth-store.js';

/** However many ask, and however often, a database counts its queue once in this time. */
const keptMs = 5_000;

type Site = Pick<ServiceSite, 'databases' | 'slots' | 'jobSlots' | 'spaces'>;

/** How busy this process is with runs and jobs, and what waits in its databases. */
export function addRunGauges(registry: MetricRegistry, { databases, slots, jobSlots, spaces }: Site): void {
  const ofBoth = (read: (those: typeof slots) => number) => () => [
    { labels: ['run'], value: read(slots) },
    { labels: ['job'], value: read(jobSlots) },
  ];
  registry.gauge(
    { name: 'runyard_executing', help: 'Runs and jobs in execution in this process.', labels: ['kind'] },
    ofBoth(({ executing }) => executing),
  );
  registry.gauge(
    { name: 'runyard_executing_max', help: 'The settings maxConcurrentRuns and maxJobs.', labels: ['kind'] },
    ofBoth(({ limits }) => limits.executing),
  );
  registry.gauge(
    {
      name: 'runyard_waiting',
      help: 'Runs and jobs that wait in this process for a slot.',
      labels: ['kind'],
    },
    ofBoth(({ waiting }) => waiting),
  );
  registry.gauge(
    {
      name: 'runyard_write_queue_runs',
      help: 'Runs with changes that are not durable yet.',
      labels: ['database'],
    },
    async () => {
      const all = await spaces.all();
      return all.map(({ databaseId, engine }) => ({ labels: [databaseId], value: engine.unstoredCount }));
    },
  );
  const counted = new Kept(async () => {
    const depths = await Promise.all(databases.map(queueDepth));
    return depths.flatMap(({ runs, jobs }, at): NumberPoint[] => [
      { labels: [databases[at]?.id ?? '', 'run'], value: runs },
      { labels: [databases[at]?.id ?? '', 'job'], value: jobs },
    ]);
  });
  registry.gauge(
    {
      name: 'runyard_queue_depth',
      help: `Runs and jobs that wait in the database for a process with a free slot, at most ${mostCounted}.`,
      labels: ['database', 'kind'],
    },
    () => counted.value(),
  );
}

/** What is read once in a while. */
class Kept<T> {
  #at = Number.NEGATIVE_INFINITY;
  #value: Promise<T> | undefined;

  constructor(private readonly read: () => Promise<T>) {}

  value(): Promise<T> {
    if (this.#value === undefined || performance.now() - this.#at >= keptMs) {
      this.#at = performance.now();
      this.#value = this.read();
    }
    return this.#value;
  }
}
