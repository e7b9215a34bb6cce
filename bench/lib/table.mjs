import { cpus, totalmem } from 'node:os';

export function machine() {
  const memory = Math.round(totalmem() / 2 ** 30);
  const { platform, arch, version } = process;
  return {
    cores: cpus().length,
    memoryGiB: memory,
    platform: `${platform} ${arch}`,
    node: version,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The rows as a Markdown table whose columns line up. */
export function table(rows, { base, measured }) {
  const lines = [
    ['Measurement', 'On', base, measured, 'Ratio', 'Target', 'Met'],
    ...rows.map((row) => [
      row.what,
      row.where,
      `${shown(row.base)} ${row.unit}`,
      `${shown(row.measured)} ${row.unit}`,
      row.ratio.toFixed(2),
      row.target,
      row.met === null ? '' : row.met ? 'yes' : 'NO',
    ]),
  ];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const text = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [text(lines[0]), rule, ...lines.slice(1).map(text)].join('\n');
}

function shown(value) {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
