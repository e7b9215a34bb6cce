import { type CaseEntry, type EvalEntry, type EvalReport, numberText, reasonsOf } from './eval-report.js';

/** Colours where the terminal wants them. */
export interface Paint {
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly dim: (text: string) => string;
}

const plain = (text: string) => text;
export const noPaint: Paint = { green: plain, red: plain, dim: plain };
export const terminalPaint: Paint = {
  green: (text) => `\u001b[32m${text}\u001b[39m`,
  red: (text) => `\u001b[31m${text}\u001b[39m`,
  dim: (text) => `\u001b[2m${text}\u001b[22m`,
};

/** How much of a text a failed case shows. */
const longestShown = 300;
/** So many failed cases of an eval are shown; the others are counted. */
const mostShown = 20;

/** What is printed at the end: a table, then what failed. */
export function summaryText(report: EvalReport, paint: Paint): string {
  const parts = [
    tableText(report.evals, paint),
    ...report.evals.flatMap((entry) => failuresText(entry, paint)),
  ];
  for (const { file, message } of report.loadErrors)
    parts.push(paint.red(`${oneLine(file, longestShown)} was not loaded.\n  ${harmless(message)}`));
  parts.push(totalText(report, paint));
  return parts.filter((part) => part !== '').join('\n\n');
}

const headings = ['eval', 'cases', 'passed', 'mean score', 'time', 'cost'] as const;

function tableText(evals: readonly EvalEntry[], paint: Paint): string {
  if (evals.length === 0) return '';
  const rows = evals.map((entry) => [
    `${marks[entry.status]} ${oneLine(entry.name, 60)}`,
    String(entry.cases.length),
    `${entry.cases.filter(({ passed }) => passed).length}`,
    meansText(entry),
    timeText(entry.durationMs),
    entry.cost === null
      ? '–'
      : `$${entry.cost < 0.01 && entry.cost > 0 ? entry.cost.toFixed(4) : entry.cost.toFixed(2)}`,
  ]);
  const widths = headings.map((heading, column) =>
    Math.max(width(heading) + (column === 0 ? 2 : 0), ...rows.map((row) => width(row[column] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const gap = ' '.repeat(Math.max((widths[column] ?? 0) - width(cell), 0));
        return column === 0 ? cell + gap : gap + cell;
      })
      .join('  ')
      .trimEnd();
  const [first, ...others] = headings;
  return [
    paint.dim(line([`  ${first}`, ...others])),
    ...rows.map((row, position) => (evals[position]?.status === 'passed' ? line(row) : paint.red(line(row)))),
  ].join('\n');
}

const marks = { passed: '✓', failed: '✗', error: '!', cancelled: '-' } as const;

/** The mean of each scorer that gives numbers; a name only where there are several. */
function meansText({ scorers }: EvalEntry): string {
  const means = scorers.flatMap(({ name, mean }) => (mean === null ? [] : [{ name, mean }]));
  if (means.length === 0) return '–';
  if (means.length === 1) return means.map(({ mean }) => numberText(mean)).join('');
  return means.map(({ name, mean }) => `${oneLine(name, 60)} ${numberText(mean)}`).join(', ');
}

function failuresText(entry: EvalEntry, paint: Paint): string[] {
  if (entry.status === 'passed') return [];
  const failed = entry.cases.filter(({ passed }) => !passed);
  const lines = [
    paint.red(`${oneLine(entry.name, longestShown)} ${paint.dim(`(${oneLine(entry.file, longestShown)})`)}`),
    ...entry.reasons.map((reason) => `  ${harmless(reason)}`),
  ];
  for (const one of failed.slice(0, mostShown)) lines.push(...failureLines(entry, one, paint));
  if (failed.length > mostShown) lines.push(`  … and ${failed.length - mostShown} more`);
  return [lines.join('\n')];
}

function failureLines({ cases }: EvalEntry, one: CaseEntry, paint: Paint): string[] {
  const iterated = cases.some(({ iteration }) => iteration > 1);
  const field = (name: string, text: string) =>
    `    ${paint.dim(name.padEnd(8))} ${oneLine(text, longestShown)}`;
  return [
    `  ${oneLine(one.caseId, longestShown)}${iterated ? ` #${one.iteration}` : ''}`,
    field('input', one.input),
    ...(one.expected === undefined ? [] : [field('expected', one.expected)]),
    ...(one.output === undefined ? [] : [field('got', one.output)]),
    ...reasonsOf(one).map((reason) => field('reason', reason)),
  ];
}

function totalText({ evals, durationMs, cancelled, loadErrors }: EvalReport, paint: Paint): string {
  const passed = evals.filter(({ status }) => status === 'passed').length;
  const others = evals.length - passed;
  const parts = [
    `${passed} passed`,
    ...(others > 0 ? [`${others} failed`] : []),
    ...(loadErrors.length > 0 ? [`${loadErrors.length} not loaded`] : []),
  ];
  const text = `${cancelled ? 'Cancelled. ' : ''}${parts.join(', ')} (${timeText(durationMs)})`;
  return others + loadErrors.length > 0 || cancelled ? paint.red(text) : paint.green(text);
}

export function timeText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** What a file, a model or an application says moves no cursor. Its lines stay. */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would control the terminal
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ');
}

/** The same as one line. */
export function oneLine(text: string, longest: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would control the terminal
  const flat = text.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim();
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat;
}

/** How many columns a text takes: some characters take two, and those that combine take none. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue;
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return columns;
}
