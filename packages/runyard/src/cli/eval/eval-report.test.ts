import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compareWith, readBaseline } from './baseline.js';
import { type CaseEntry, type EvalEntry, type EvalReport, exitCodeOf } from './eval-report.js';
import { findEvalFiles, patternOf } from './find-eval-files.js';
import { junitOf } from './junit.js';
import { Progress } from './progress.js';
import { noPaint, summaryText } from './summary-text.js';

function aCase(given: Partial<CaseEntry> = {}): CaseEntry {
  const facts = { caseId: 'one', iteration: 1, status: 'completed', passed: true, input: 'Hello' };
  return { ...facts, output: 'Hi', scores: {}, durationMs: 12, cost: 0, ...given };
}

function anEval(given: Partial<EvalEntry> = {}): EvalEntry {
  const facts = {
    file: 'greet.eval.ts',
    name: 'Greets',
    component: null,
    status: 'passed',
    reasons: [],
  } as const;
  return { ...facts, durationMs: 1_500, cost: 0.0123, scorers: [], cases: [aCase()], ...given };
}

function aReport(...evals: EvalEntry[]): EvalReport {
  const facts = {
    version: 1,
    runyard: '0',
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 2_000,
  } as const;
  return { ...facts, cancelled: false, evals, loadErrors: [] };
}

const scorer = { lowerIsBetter: false, stdDev: null, passed: 0, failed: 0 };

const refused = aCase({
  caseId: 'rude & "loud"',
  passed: false,
  input: 'Say <b>hi</b>\u0000\u001b[31m',
  expected: 'Hello\nthere',
  output: 'Go away \ud800',
  scores: { judge: { score: 2.5, passed: false, reason: 'Not <polite>.' } },
});
const broken = aCase({ caseId: 'gone', passed: false, status: 'error', failure: 'The model is away.' });
const failed = anEval({
  name: 'Is polite',
  status: 'failed',
  reasons: ['judge: below.'],
  cases: [aCase(), refused, broken],
});

it('finds eval files below a folder, and named files, folders and patterns', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-eval-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = [
    'a.eval.ts',
    'b/c.eval.mjs',
    'b/d.ts',
    'node_modules/x.eval.js',
    'dist/y.eval.js',
    '.git/z.eval.js',
  ];
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  const found = (...named: string[]) => findEvalFiles(named, folder).map((file) => relative(folder, file));
  expect(found()).toEqual(['a.eval.ts', 'b/c.eval.mjs']);
  expect(found('b', './b/c.eval.mjs')).toEqual(['b/c.eval.mjs']);
  expect(found('b/d.ts', '*.eval.ts')).toEqual(['a.eval.ts', 'b/d.ts']);
  expect(found('**/*.eval.{ts,mjs}')).toEqual(['a.eval.ts', 'b/c.eval.mjs']);
  expect(() => found('nowhere')).toThrow('nowhere does not exist.');
  expect(() => found('b/*.eval.js')).toThrow(
    /No evals found in b\/\*\.eval\.js: looked for files that end with \.eval\.ts/,
  );
  expect(patternOf('a.b/?.ts').test('axb/c.ts')).toBe(false);
});

it('writes JUnit XML in which every text is escaped and every count is right', () => {
  const xml = junitOf({
    ...aReport(anEval(), failed),
    loadErrors: [{ file: 'bad.eval.ts', message: 'No <value>' }],
  });
  expect(xml).toContain(
    '<testsuites name="runyard eval" tests="5" failures="1" errors="2" skipped="0" time="2.000">',
  );
  expect(xml).toContain(
    '<testsuite name="Is polite" file="greet.eval.ts" tests="3" failures="1" errors="1" skipped="0" time="1.500">',
  );
  expect(xml).toContain('name="rude &amp; &quot;loud&quot;"');
  expect(xml).toContain('<failure message="judge 2.5: Not &lt;polite&gt;." type="BelowThreshold">');
  expect(xml).toContain('<error message="The model is away." type="NotScored">');
  expect(xml).toContain('Say &lt;b&gt;hi&lt;/b&gt;\ufffd\ufffd[31m');
  expect(xml).toContain('Go away \ufffd');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow them
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
  // an eval that is below its own threshold although its cases passed is a failure too
  const below = junitOf(
    aReport(anEval({ status: 'failed', reasons: ['judge: the mean score is 6, below 7.'] })),
  );
  expect(below).toContain('tests="2" failures="1"');
  const iterated = anEval({ cases: [aCase(), aCase({ iteration: 2 })] });
  expect(junitOf(aReport(iterated))).toContain('name="one #2"');
});

it('prints a table and what failed, one line for each text', () => {
  const slow = anEval({
    name: 'Is quick',
    scorers: [{ name: 'run_time_ms', lowerIsBetter: true, mean: 12.3456, stdDev: 1, passed: 0, failed: 0 }],
    cost: null,
  });
  expect(
    summaryText(aReport(slow, failed), noPaint),
  ).toBe(`  eval       cases  passed  mean score   time   cost
✓ Is quick       1       1       12.35  1.5 s      –
✗ Is polite      3       1           –  1.5 s  $0.01

Is polite (greet.eval.ts)
  judge: below.
  rude & "loud"
    input    Say <b>hi</b> [31m
    expected Hello there
    got      Go away \ud800
    reason   judge 2.5: Not <polite>.
  gone
    input    Hello
    got      Hi
    reason   The model is away.

1 passed, 1 failed (2.0 s)`);
});

it('prints nothing that controls the terminal, whatever the names', () => {
  const evil = '\u001b[2Jx\u009b1A\r';
  const scores = { [evil]: { score: 1, passed: false } };
  const entry = (score: number) =>
    anEval({
      ...{ name: evil, file: evil, status: 'failed', reasons: [evil] },
      scorers: [evil, `${evil}2`].map((name) => ({ ...scorer, name, mean: score })),
      cases: [
        aCase({
          caseId: evil,
          passed: false,
          failure: evil,
          scores: { [evil]: { ...scores[evil]!, score } },
        }),
      ],
    });
  const report = { ...aReport(entry(1)), loadErrors: [{ file: evil, message: evil }] };
  const { lines } = compareWith(aReport(entry(2)), report, 0.05)[0]!;
  expect(lines).toHaveLength(2);
  const printed = [summaryText(report, noPaint), ...lines].join('\n').replaceAll('\n', '');
  expect(printed).not.toMatch(/\p{Control}/u);
});

it('refuses a baseline that cannot be compared before anything is executed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-eval-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'baseline.json');
  const { scores: _scores, ...unscored } = aCase();
  for (const cases of [[unscored], [{ ...unscored, scores: null }], [{ ...unscored, scores: { s: 1 } }]]) {
    writeFileSync(file, JSON.stringify(aReport({ ...anEval(), cases: cases as never })));
    expect(() => readBaseline(file)).toThrow('is not a report that runyard eval');
  }
});

it('ends with 0 only when everything passed', () => {
  const good = aReport(anEval());
  expect(exitCodeOf(good, 0)).toBe(0);
  expect(exitCodeOf(good, 1)).toBe(1);
  expect(exitCodeOf(aReport(anEval(), failed), 0)).toBe(1);
  expect(exitCodeOf(aReport(anEval({ status: 'error' })), 0)).toBe(1);
  expect(exitCodeOf({ ...good, loadErrors: [{ file: 'f', message: 'm' }] }, 0)).toBe(2);
  expect(exitCodeOf({ ...good, cancelled: true }, 0)).toBe(130);
});

it('calls worse only what is worse by more than chance', () => {
  const scored = (...scores: number[]) =>
    scores.map((score, position) =>
      aCase({ iteration: position + 1, scores: { judge: { score, passed: null } } }),
    );
  const entry = (...scores: number[]) =>
    anEval({
      scorers: [{ name: 'judge', lowerIsBetter: false, mean: null, stdDev: null, passed: 0, failed: 0 }],
      cases: scored(...scores),
    });
  const compared = (before: number[], after: number[]) =>
    compareWith(aReport(entry(...before)), aReport(entry(...after)), 0.05).flatMap(
      ({ regressions }) => regressions,
    );
  expect(compared([8, 9, 8, 9], [3, 2, 3, 2])).toEqual(['one, judge: worse: 8.5 → 2.5']);
  expect(compared([3, 2, 3, 2], [8, 9, 8, 9])).toEqual([]);
  expect(compared([8, 2, 9, 3], [7, 3, 8, 2])).toEqual([]);
  expect(compared([9], [1])).toEqual([]);
  expect(compareWith(aReport(), aReport(entry(1)), 0.05)).toEqual([]);
});

it('draws a bar on a terminal and lines elsewhere', () => {
  const drawn = (isTTY: boolean) => {
    const texts: string[] = [];
    const progress = new Progress(
      { isTTY, columns: 60, write: (text) => texts.push(text) },
      noPaint,
      () => 0,
    );
    progress.began('Is polite');
    progress.executed(true, 4);
    progress.ended(failed);
    return texts.join('');
  };
  expect(drawn(false)).toBe('✗ Is polite 1/3 passed, 1.5 s\n');
  expect(drawn(true)).toContain('\r\u001b[2K░');
  expect(drawn(true).endsWith('\r\u001b[2K✗ Is polite 1/3 passed, 1.5 s\n')).toBe(true);
});
