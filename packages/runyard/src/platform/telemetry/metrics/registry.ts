import {
  Counter,
  Histogram,
  type HistogramPoint,
  type InstrumentOptions,
  type NumberPoint,
} from './instruments.js';

/** What is read when a collector asks: one number, or one for each set of label values. Undefined: not known now. */
type Read = () =>
  | number
  | undefined
  | readonly NumberPoint[]
  | Promise<number | undefined | readonly NumberPoint[]>;

interface MetricBase {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A metric with its values of one moment. */
export type Metric = MetricBase &
  (
    | { readonly type: 'counter' | 'gauge'; readonly points: readonly NumberPoint[] }
    | {
        readonly type: 'histogram';
        readonly bounds: readonly number[];
        readonly points: readonly HistogramPoint[];
      }
  );

/** What no longer answers is left out: a database that is away must not take the metrics with it. */
const patienceMs = 2_000;

/** All instruments of a service. Prometheus and OpenTelemetry read the same ones. */
export class MetricRegistry {
  readonly #metrics = new Map<string, () => Metric | Promise<Metric | undefined>>();

  counter(options: InstrumentOptions): Counter {
    const counter = new Counter(options);
    const { name, help, labels = [] } = options;
    this.#add(name, () => ({ type: 'counter', name, help, labels, points: [...counter.points()] }));
    return counter;
  }

  histogram(options: InstrumentOptions, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(options, bounds);
    const { name, help, labels = [] } = options;
    this.#add(name, () => ({
      type: 'histogram',
      name,
      help,
      labels,
      bounds,
      points: [...histogram.points()],
    }));
    return histogram;
  }

  /** A value that is read when it is asked for. One of the same name takes its place. */
  gauge(options: InstrumentOptions, read: Read): void {
    this.#read('gauge', options, read);
  }

  /** The same for a value that only grows. */
  total(options: InstrumentOptions, read: Read): void {
    this.#read('counter', options, read);
  }

  /** All metrics as they are now. */
  async collect(): Promise<readonly Metric[]> {
    const metrics = await Promise.all(Array.from(this.#metrics.values(), (read) => read()));
    return metrics.flatMap((metric) => (metric === undefined || metric.points.length === 0 ? [] : [metric]));
  }

  #read(type: 'counter' | 'gauge', { name, help, labels = [] }: InstrumentOptions, read: Read): void {
    this.#metrics.set(name, async () => {
      const found = await settled(read);
      if (found === undefined) return undefined;
      const points = typeof found === 'number' ? [{ labels: [], value: found }] : found;
      return { type, name, help, labels, points };
    });
  }

  #add(name: string, read: () => Metric): void {
    if (this.#metrics.has(name)) throw new Error(`There are two metrics with the name ${name}.`);
    this.#metrics.set(name, read);
  }
}

async function settled(read: Read): Promise<Awaited<ReturnType<Read>>> {
  try {
    const value = read();
    if (!(value instanceof Promise)) return value;
    return await within(value);
  } catch {
    return undefined;
  }
}

function within<T>(work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const overdue = setTimeout(() => resolve(undefined), patienceMs);
    work.then(resolve, reject).finally(() => clearTimeout(overdue));
  });
}
