import { wellFormed } from '../../../core/embedders/well-formed.js';

/** The values of the labels of a series, in the order in which the instrument names them. */
export type LabelValues = readonly string[];

/** What an instrument is called, and how its series differ. */
export interface InstrumentOptions {
  readonly name: string;
  readonly help: string;
  /** At most three. */
  readonly labels?: readonly string[];
  /** Those of them whose values come from outside, such as the name of a model: they may be many. */
  readonly open?: readonly string[];
}

/** So many series are kept apart. After that, the values of open labels become `other`. */
export const mostSeries = 200;
const other = 'other';
const longestValue = 100;

/** Series by the values of their labels. A value that is known is found without making anything. */
class SeriesTable<Series> {
  readonly #series = new Map<string, Map<string, Map<string, Series>>>();
  readonly #isOpen: readonly boolean[];
  readonly #names: readonly string[];
  #size = 0;

  constructor(
    { labels = [], open = [] }: InstrumentOptions,
    private readonly make: () => Series,
  ) {
    this.#names = labels;
    this.#isOpen = labels.map((label) => open.includes(label));
    // a counter without labels shows that it is zero
    if (labels.length === 0) this.of('', '', '');
  }

  of(first: string, second: string, third: string): Series {
    return this.#series.get(first)?.get(second)?.get(third) ?? this.#add([first, second, third]);
  }

  *entries(): Generator<readonly [LabelValues, Series]> {
    for (const [first, inFirst] of this.#series)
      for (const [second, inSecond] of inFirst)
        for (const [third, series] of inSecond)
          yield [[first, second, third].slice(0, this.#names.length), series];
  }

  #add(given: LabelValues): Series {
    const isFull = this.#size >= mostSeries;
    const [first = '', second = '', third = ''] = given.map((value, at) =>
      isFull && this.#isOpen[at] ? other : shortened(value),
    );
    const inFirst = this.#series.get(first) ?? new Map<string, Map<string, Series>>();
    const inSecond = inFirst.get(second) ?? new Map<string, Series>();
    const known = inSecond.get(third);
    if (known !== undefined) return known;
    const series = this.make();
    this.#series.set(first, inFirst.set(second, inSecond.set(third, series)));
    this.#size += 1;
    return series;
  }
}

function shortened(value: string): string {
  return wellFormed(value.length <= longestValue ? value : `${value.slice(0, longestValue - 1)}…`);
}

class Count {
  value = 0;
}

/** Counts what happens. */
export class Counter {
  readonly #series: SeriesTable<Count>;

  constructor(readonly options: InstrumentOptions) {
    this.#series = new SeriesTable(options, () => new Count());
  }

  add(amount: number, first = '', second = '', third = ''): void {
    this.#series.of(first, second, third).value += amount;
  }

  *points(): Generator<NumberPoint> {
    for (const [labels, { value }] of this.#series.entries()) yield { labels, value };
  }
}

class Buckets {
  /** One more than there are bounds: what lies above the last one. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: number) {
    this.counts = new Array<number>(bounds + 1).fill(0);
  }
}

/** Counts values by how large they are. */
export class Histogram {
  readonly #series: SeriesTable<Buckets>;

  constructor(
    readonly options: InstrumentOptions,
    readonly bounds: readonly number[],
  ) {
    this.#series = new SeriesTable(options, () => new Buckets(bounds.length));
  }

  observe(value: number, first = '', second = '', third = ''): void {
    const { bounds } = this;
    const series = this.#series.of(first, second, third);
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
  }

  *points(): Generator<HistogramPoint> {
    for (const [labels, { counts, sum }] of this.#series.entries()) yield { labels, counts, sum };
  }
}

export interface NumberPoint {
  readonly labels: LabelValues;
  readonly value: number;
}

export interface HistogramPoint {
  readonly labels: LabelValues;
  /** Not cumulative; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}
