/** A sample of a metric, with its labels. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadMetrics {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the sample with at least these labels; undefined without one. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** Reads the text format of Prometheus, as strictly as its grammar is. Throws for a line that is not in it. */
export function readExposition(text: string): ReadMetrics {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null && types.has(type[1]!)) throw new Error(`${type[1]} is there twice.`);
    if (type !== null) types.set(type[1]!, type[2]!);
    else if (!/^# (HELP \S+ .+|EOF$)/.test(line)) samples.push(sampleOf(line, types));
  }
  const seen = samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  const twice = seen.find((one, at) => seen.indexOf(one) !== at);
  if (twice !== undefined) throw new Error(`${twice} is there twice.`);
  const value: ReadMetrics['value'] = (name, labels = {}) =>
    samples.find(
      (one) =>
        one.name === name && Object.entries(labels).every(([key, wanted]) => one.labels[key] === wanted),
    )?.value;
  return { types, samples, value };
}

function sampleOf(line: string, types: ReadonlyMap<string, string>): Sample {
  const [, name = '', inside = '', number = ''] = sampleLine.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === '' || number === '' || Number.isNaN(value)) throw new Error(`This is no sample: ${line}`);
  const family = name.replace(/_(bucket|sum|count)$/, '');
  if (![name, family, name.replace(/_total$/, '')].some((known) => types.has(known)))
    throw new Error(`A sample comes before its type: ${line}`);
  return { name, labels: labelsOf(inside, line), value };
}

function labelsOf(inside: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < inside.length) {
    const found = label.exec(inside);
    if (found === null) throw new Error(`These are no labels: ${line}`);
    labels[found[1]!] = found[2]!.replaceAll(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}
