import { type CaseEntry, type EvalEntry, type EvalReport, numberText, reasonsOf } from './eval-report.js';

/** What CI servers show of a text, and what keeps a report small. */
const longestText = 20_000;

/** The report as JUnit XML: a suite for each eval, a case for each execution of a case. */
export function junitOf(report: EvalReport): string {
  const suites = [...report.evals.map(suiteOf), ...report.loadErrors.map(loadErrorSuite)];
  const totals = suites.reduce((sum, { counts }) => added(sum, counts), nothing);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'runyard eval', ...shownCounts(totals), time: seconds(report.durationMs) })}>`,
    ...suites.map(({ text }) => text),
    '</testsuites>',
    '',
  ].join('\n');
}

interface Counts {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
}

interface Suite {
  readonly text: string;
  readonly counts: Counts;
}

const nothing: Counts = { tests: 0, failures: 0, errors: 0 };

function added(one: Counts, other: Counts): Counts {
  return {
    tests: one.tests + other.tests,
    failures: one.failures + other.failures,
    errors: one.errors + other.errors,
  };
}

function shownCounts({ tests, failures, errors }: Counts) {
  return { tests, failures, errors, skipped: 0 };
}

function suiteOf(entry: EvalEntry): Suite {
  const { name, file, cases, durationMs, status, reasons } = entry;
  const failed = cases.filter(({ passed }) => !passed);
  const unmeasured = failed.filter(isError).length;
  // an eval whose cases all passed can be below a threshold of its own, or have ended before its cases
  const own = status !== 'passed' && failed.length === 0;
  const isFault = status === 'error' || status === 'cancelled';
  const counts = {
    tests: cases.length + (own ? 1 : 0),
    failures: failed.length - unmeasured + (own && !isFault ? 1 : 0),
    errors: unmeasured + (own && isFault ? 1 : 0),
  };
  const ownText = reasons.join('\n') || `The eval is ${status}.`;
  const lines = [
    `  <testsuite${attributes({ name, file, ...shownCounts(counts), time: seconds(durationMs) })}>`,
    ...cases.map((one) => caseOf(entry, one)),
    ...(own
      ? [
          caseElement(entry, 'the eval itself', 0, [
            faultElement(isFault ? 'error' : 'failure', ownText, ownText),
          ]),
        ]
      : []),
    '  </testsuite>',
  ];
  return { text: lines.join('\n'), counts };
}

function isError({ status, failure }: CaseEntry): boolean {
  return failure !== undefined || status !== 'completed';
}

function caseOf(entry: EvalEntry, one: CaseEntry): string {
  const iterated = entry.cases.some(({ iteration }) => iteration > 1);
  const name = iterated ? `${one.caseId} #${one.iteration}` : one.caseId;
  const scores = Object.entries(one.scores).map(
    ([scorer, { score, passed }]) =>
      `${scorer}: ${[score === null ? [] : numberText(score), passed === null ? [] : passed ? 'passed' : 'failed'].flat().join(', ')}`,
  );
  const reasons = reasonsOf(one);
  const details = [
    ...reasons,
    `Input: ${one.input}`,
    ...(one.expected === undefined ? [] : [`Expected: ${one.expected}`]),
    ...(one.output === undefined ? [] : [`Output: ${one.output}`]),
  ].join('\n');
  const fault = one.passed
    ? []
    : [faultElement(isError(one) ? 'error' : 'failure', reasons[0] ?? 'The case did not pass.', details)];
  const output = scores.length === 0 ? [] : [`      <system-out>${escaped(scores.join('\n'))}</system-out>`];
  return caseElement(entry, name, one.durationMs ?? 0, [...fault, ...output]);
}

function caseElement(
  { file, name: suite }: EvalEntry,
  name: string,
  durationMs: number,
  inside: readonly string[],
): string {
  const head = `    <testcase${attributes({ classname: `${file}.${suite}`, name, file, time: seconds(durationMs) })}`;
  return inside.length === 0 ? `${head}/>` : [`${head}>`, ...inside, '    </testcase>'].join('\n');
}

function faultElement(element: 'failure' | 'error', message: string, text: string): string {
  const type = element === 'failure' ? 'BelowThreshold' : 'NotScored';
  return `      <${element}${attributes({ message: message.slice(0, 500), type })}>${escaped(text)}</${element}>`;
}

function loadErrorSuite({ file, message }: { readonly file: string; readonly message: string }): Suite {
  const counts = { tests: 1, failures: 0, errors: 1 };
  const text = [
    `  <testsuite${attributes({ name: file, file, ...shownCounts(counts), time: '0' })}>`,
    `    <testcase${attributes({ classname: file, name: 'load', file, time: '0' })}>`,
    `      <error${attributes({ message: message.slice(0, 500), type: 'LoadError' })}>${escaped(message)}</error>`,
    '    </testcase>',
    '  </testsuite>',
  ].join('\n');
  return { text, counts };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replaceAll('\n', '&#10;')}"`)
    .join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** XML has no way to write most control characters, and none for half a character: they become a replacement. */
function escaped(text: string): string {
  const short = text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  return (
    short
      .replace(/\p{Surrogate}/gu, '\ufffd')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML does not allow
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"']/g, (character) => entities[character] ?? character)
  );
}
