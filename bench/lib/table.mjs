import { cpus, totalmem } from 'node:os';
import { parts } from './profile-parts.mjs';

export function machine() {
  const { platform, arch, version } = process;
  return {
    date: new Date().toISOString().slice(0, 10),
    node: version,
    platform: `${platform} ${arch}`,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}

/** Load on two servers, or three: CPU time beside throughput, each with its ratio. */
export function loadTable(rows, base, measured) {
  const head = ['Load', 'On', `CPU per run: ${base}`, measured, 'Ratio', 'Target', 'Met'];
  const usual = rows.some(({ cpuAgainstUsual }) => cpuAgainstUsual) ? [`${base}, http.Agent`, 'Ratio'] : [];
  const rest = [`Throughput: ${base}`, measured, 'Ratio', `Time, p50: ${base}`, measured];
  return markdown([
    [...head, ...usual, ...rest],
    ...rows.map(({ what, where, cpu, cpuAgainstUsual, throughput, time }) => [
      what,
      where,
      ...compared(cpu),
      ...bound(cpu),
      ...(cpuAgainstUsual ? [compared(cpuAgainstUsual)[0], compared(cpuAgainstUsual)[2]] : []),
      ...compared(throughput),
      ...compared(time).slice(0, 2),
    ]),
  ]);
}

export function table(rows, base, measured) {
  return markdown([
    ['Measurement', 'On', base, measured, 'Ratio', 'Target', 'Met'],
    ...rows.map((row) => [row.what, row.where, ...compared(row), ...bound(row)]),
  ]);
}

/** The share of each part of a run, for each shape of load. */
export function profilesTable(profiles) {
  const sums = profiles.map(({ samples }) => Object.values(samples).reduce((sum, count) => sum + count, 0));
  const share = (part, { samples }, position) => `${((100 * samples[part]) / sums[position]).toFixed(1)} %`;
  return markdown([
    ['Part', ...profiles.map(({ what }) => what)],
    ...parts.map((part) => [part, ...profiles.map((profile, position) => share(part, profile, position))]),
  ]);
}

/** Operations of one kind, each with its times on every database side by side. */
export function viewsTable(rows) {
  const places = [...new Set(rows.map(({ where }) => where))];
  const heads = places.flatMap((place) => [`${place}: p50`, 'p95', 'p99', 'CPU']);
  const operations = [...new Set(rows.map(({ what }) => what))].map((what) =>
    places.map((place) => rows.find((row) => row.what === what && row.where === place)),
  );
  return markdown([
    ['Operation', ...heads, 'Met'],
    ...operations.map((cells) => [
      cells.find((cell) => cell !== undefined).what,
      ...cells.flatMap((cell) => [cell.p50, cell.p95, cell.p99, cell.cpu].map((time) => `${shown(time)} ms`)),
      cells.every(({ met }) => met) ? 'yes' : 'NO',
    ]),
  ]);
}

/** Searches of knowledge. The longest pause is how long other work of the process waited. */
export function searchTable(rows) {
  return markdown([
    [
      'Chunks',
      'On',
      'Search',
      'p50',
      'p95',
      'CPU',
      'Longest pause',
      'Recall@10',
      'First search',
      'Memory',
      'Resident',
      'Met',
    ],
    ...rows.map(
      ({ what, where, kind, p50, p95, cpu, pause, recall, firstMs, memoryMiB, residentMiB, met }) => [
        what,
        where,
        kind,
        ...[p50, p95, cpu, pause].map((time) => `${shown(time)} ms`),
        ...(recall === undefined
          ? ['', '', '', '']
          : [
              recall.toFixed(3),
              `${shown(firstMs)} ms`,
              `${shown(memoryMiB)} MiB`,
              `${shown(residentMiB)} MiB`,
            ]),
        met ? 'yes' : 'NO',
      ],
    ),
  ]);
}

/** Runyard and its peers: what they cost. */
export function peersTable(rows) {
  const head = ['Server', 'Stores in', 'Start', 'Memory: idle', 'after load', 'CPU per run: 1 caller'];
  return markdown([
    [...head, '32 callers', 'streamed, 32', 'Runs/s: 32 callers', 'streamed, 32'],
    ...rows.map(({ what, storage, startMs, idleMiB, loadedMiB, one, many, streams }) => [
      ...[what, storage, `${shown(startMs)} ms`, `${shown(idleMiB)} MiB`, `${shown(loadedMiB)} MiB`],
      ...[one, many, streams].map(({ cpuMs }) => `${shown(cpuMs)} ms`),
      ...[many, streams].map(({ perSecond }) => shown(perSecond)),
    ]),
  ]);
}

/** What a server holds during a long load. */
export function soakTable(rows) {
  const value = (number, unit) => `${number < 0 ? '-' : ''}${shown(Math.abs(number))} ${unit}`.trim();
  return markdown([
    ['Measurement', 'On', 'First', 'Last', 'Growth per hour', 'Growth per 1,000 runs'],
    ...rows.map(({ what, where, unit, first, last, perHour, perRun }) => [
      what,
      where,
      ...[first, last, perHour, perRun * 1000].map((number) => value(number, unit)),
    ]),
  ]);
}

/** What has no bound: until the first byte, and all of it. */
export function unboundedTable(rows) {
  return markdown([
    ['Operation', 'On', 'First byte', 'All', 'CPU'],
    ...rows.map(({ what, where, first, whole, cpu }) => [
      what,
      where,
      ...[first, whole, cpu].map((time) => `${shown(time)} ms`),
    ]),
  ]);
}

function compared({ base, measured, unit, ratio }) {
  if (base === undefined) return ['', `${shown(measured)} ${unit}`, ''];
  return [`${shown(base)} ${unit}`, `${shown(measured)} ${unit}`, ratio.toFixed(2)];
}

function bound({ target = '', met }) {
  return [target, met === undefined ? '' : met ? 'yes' : 'NO'];
}

function shown(value) {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/** A Markdown table whose columns line up in a terminal too. */
function markdown(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const text = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [text(lines[0]), rule, ...lines.slice(1).map(text)].join('\n');
}
