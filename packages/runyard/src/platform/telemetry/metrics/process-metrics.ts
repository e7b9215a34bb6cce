import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { version } from '../../version.js';
import type { NumberPoint } from './instruments.js';
import type { MetricRegistry } from './registry.js';

const resolutionMs = 20;
/** The delays of so long are shown at least, however often they are asked for. */
const windowMs = 10_000;

/** What every process has, under the names that Prometheus clients have for it. */
export function addProcessMetrics(registry: MetricRegistry): EventLoopDelay {
  const loop = new EventLoopDelay();
  registry.gauge(
    { name: 'runyard_build_info', help: 'The version of Runyard and of Node.', labels: ['version', 'node'] },
    () => [{ labels: [version, process.version], value: 1 }],
  );
  registry.gauge(
    {
      name: 'runyard_event_loop_delay_seconds',
      help: 'How much later than due timers ran in the last seconds.',
      labels: ['quantile'],
    },
    () => loop.points(),
  );
  registry.total({ name: 'process_cpu_seconds_total', help: 'CPU time of the process.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    process.memoryUsage.rss(),
  );
  registry.gauge({ name: 'nodejs_heap_used_bytes', help: 'Used memory of the heap of V8.' }, () => {
    return process.memoryUsage().heapUsed;
  });
  registry.gauge(
    { name: 'nodejs_external_memory_bytes', help: 'Memory of buffers and of objects outside of the heap.' },
    () => process.memoryUsage().external,
  );
  const startedAt = (Date.now() - performance.now()) / 1000;
  registry.gauge(
    { name: 'process_start_time_seconds', help: 'Start of the process, in seconds since 1970.' },
    () => startedAt,
  );
  return loop;
}

/** The delays since the last window began; the last window as long as the present one is short. */
class EventLoopDelay {
  readonly #delays: IntervalHistogram;
  #since = performance.now();
  #last: readonly NumberPoint[] | undefined;

  constructor() {
    this.#delays = monitorEventLoopDelay({ resolution: resolutionMs });
    this.#delays.enable();
  }

  close(): void {
    this.#delays.disable();
  }

  points(): readonly NumberPoint[] {
    const isWhole = performance.now() - this.#since >= windowMs;
    if (!isWhole && this.#last !== undefined) return this.#last;
    const points = this.#read();
    if (!isWhole) return points;
    this.#last = points;
    this.#delays.reset();
    this.#since = performance.now();
    return points;
  }

  #read(): readonly NumberPoint[] {
    const delays = this.#delays;
    if (delays.count === 0) return [];
    const of = (quantile: string, nanoseconds: number) => ({
      labels: [quantile],
      value: Math.max(nanoseconds / 1e9 - resolutionMs / 1000, 0),
    });
    return [of('0.5', delays.percentile(50)), of('0.99', delays.percentile(99)), of('1', delays.max)];
  }
}
