import { tokens } from './answer.mjs';

/** Bounds of the blueprint; a row without one only informs. */
const targets = { cpu: 2, session: 1.1, memoryKiB: 20, coldStartMs: 700 };

/** One row: two values of the same unit, their ratio, and a bound for the ratio or for the measured value. */
export function row({ what, where = '', unit, base, measured, mostRatio, most }) {
  const ratio = measured / base;
  const bound = mostRatio ?? most;
  const held = mostRatio === undefined ? measured : ratio;
  const target = bound === undefined ? '' : mostRatio === undefined ? `${bound} ${unit}` : `${bound}×`;
  return {
    what,
    where,
    unit,
    base,
    measured,
    ratio,
    target,
    met: bound === undefined ? null : held <= bound,
  };
}

export function loadRows(where, { name, callers, stream }, { base, measured }) {
  const what = `${name}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`;
  const both = (title, unit, value, bound) =>
    row({ what: title, where, unit, base: value(base), measured: value(measured), ...bound });
  const rows = [
    both(`${what}: CPU per run`, 'ms', (side) => side.cpuPerRun / 1000, { mostRatio: targets.cpu }),
    both(`${what}: throughput`, 'runs/s', (side) => side.runsPerSecond),
    both(`${what}: time of a run, p50`, 'ms', (side) => side.wholeMs.p50),
  ];
  if (!stream) return rows;
  return [
    ...rows,
    both(`${what}: CPU per token`, 'µs', (side) => side.cpuPerRun / tokens.length),
    both(`${what}: first content event, p50`, 'ms', (side) => side.firstMs.p50),
    both(`${what}: first content event, p99`, 'ms', (side) => side.firstMs.p99),
  ];
}

export function sessionRows(where, length, { first, last }) {
  const what = `run ${length} of a session against the first`;
  const bound = { mostRatio: targets.session };
  return [
    row({ what: `${what}: time`, where, unit: 'ms', base: first.wholeMs, measured: last.wholeMs, ...bound }),
    row({
      what: `${what}: CPU`,
      where,
      unit: 'ms',
      base: first.cpuPerRun / 1000,
      measured: last.cpuPerRun / 1000,
      ...bound,
    }),
  ];
}

export function memoryRows(where, count, bare, runyard) {
  const what = `idle stream, one of ${count}`;
  const most = targets.memoryKiB;
  return [
    row({ what: `${what}: resident`, where, unit: 'KiB', base: bare.rssKiB, measured: runyard.rssKiB, most }),
    row({ what: `${what}: heap`, where, unit: 'KiB', base: bare.heapKiB, measured: runyard.heapKiB, most }),
  ];
}

export function coldStartRows({ bare, fresh, existing }) {
  const most = targets.coldStartMs;
  const where = 'SQLite';
  return [
    row({ what: 'cold start, new data folder', where, unit: 'ms', base: bare, measured: fresh, most }),
    row({ what: 'cold start, existing data', where, unit: 'ms', base: bare, measured: existing, most }),
  ];
}
