import { expect, it, onTestFinished } from 'vitest';
import { type ComparedOutcome, compareEvals } from './compare-evals.js';

/** One outcome for each number (or pass) of a case. */
function outcomes(
  cases: Readonly<Record<string, readonly (number | boolean | 'failed')[]>>,
): ComparedOutcome[] {
  return Object.entries(cases).flatMap(([caseId, values]) =>
    values.map((value): ComparedOutcome => {
      if (value === 'failed') return { caseId, status: 'error', scores: {} };
      const isNumber = typeof value === 'number';
      const score = { score: isNumber ? value : null, passed: isNumber ? null : value };
      return { caseId, status: 'completed', scores: { s: score } };
    }),
  );
}

const changesOf = (comparison: ReturnType<typeof compareEvals>) =>
  Object.fromEntries(comparison.cases.map(({ caseId, change }) => [caseId, change]));

it('says case by case what got better and worse, in any order of the cases', () => {
  const before = outcomes({ a: [5], b: [7], c: [6], gone: [1] });
  const after = outcomes({ added: [9], c: [6], b: [4], a: [8] });
  const comparison = compareEvals(before, after);
  expect(changesOf(comparison)).toEqual({
    a: 'better',
    b: 'worse',
    c: 'same',
    gone: 'removed',
    added: 'added',
  });
  const [scorer] = comparison.scorers;
  expect(scorer?.changes).toEqual({ better: 1, worse: 1, same: 1, added: 1, removed: 1, unscored: 0 });
  expect(scorer?.difference?.mean).toBe(0);
  expect(scorer?.before).toMatchObject({ count: 4, mean: 4.75, min: 1, max: 7, median: 5.5 });
  expect(compareEvals([...before].reverse(), [...after].reverse()).scorers).toEqual(comparison.scorers);

  const cheaper = compareEvals(before, after, { lowerIsBetter: ['s'] });
  expect(changesOf(cheaper)).toMatchObject({ a: 'worse', b: 'better', c: 'same' });
});

it('tests numbers of a case as Welch does, and gives their interval', () => {
  // by hand: means 20 and 23, squared errors 2.5/5 and 10/5, t = 3/sqrt(2.5), df = 2.5²/(0.25/4 + 4/4) = 5.88235
  const before = outcomes({ a: [18, 19, 20, 21, 22] });
  const after = outcomes({ a: [19, 21, 23, 25, 27] });
  const [found] = compareEvals(before, after).cases;
  expect(found?.difference?.mean).toBeCloseTo(3, 12);
  expect(found?.pValue).toBeCloseTo(0.107531, 5);
  // 2.458833 is the 97.5 % quantile of t with 5.88235 degrees of freedom
  expect(found?.difference?.low).toBeCloseTo(3 - 2.458833 * Math.sqrt(2.5), 4);
  expect(found?.significant).toBe(false);
});

it('tests passes of a case exactly', () => {
  const rate = (passed: number, of: number) => Array.from({ length: of }, (_, index) => index < passed);
  const compared = (a: number, n: number, b: number, m: number) =>
    compareEvals(outcomes({ a: rate(a, n) }), outcomes({ a: rate(b, m) })).cases[0];
  // the tea of Fisher: 3 of 4 against 1 of 4 has 34/70
  expect(compared(1, 4, 3, 4)?.pValue).toBeCloseTo(34 / 70, 9);
  // 0 of 5 against 5 of 5: 2 of C(10, 5)
  expect(compared(0, 5, 5, 5)?.pValue).toBeCloseTo(2 / 252, 9);
  expect(compared(0, 5, 5, 5)?.significant).toBe(true);
  expect(compared(5, 5, 5, 5)?.pValue).toBe(1);
  // Newcombe's own example (1998, table II): 56 of 70 against 48 of 80, 0.0524 to 0.3339
  const example = compared(48, 80, 56, 70)?.difference;
  expect(example?.mean).toBeCloseTo(0.2, 12);
  expect(example?.low).toBeCloseTo(0.0524, 4);
  expect(example?.high).toBeCloseTo(0.3339, 4);
});

it('claims no certainty from one iteration, from one case, or from values without spread', () => {
  const one = compareEvals(outcomes({ a: [1] }), outcomes({ a: [9] }));
  expect(one.cases[0]).toMatchObject({
    change: 'better',
    difference: { mean: 8, low: null, high: null },
    pValue: null,
    significant: false,
  });
  expect(one.scorers[0]).toMatchObject({ difference: null, pValue: null, significant: false });

  const still = compareEvals(outcomes({ a: [3, 3, 3] }), outcomes({ a: [9, 9, 9] })).cases[0];
  // 2 of the 20 ways to divide six runs into two evals
  expect(still?.pValue).toBeCloseTo(0.1, 9);
  expect(still).toMatchObject({ difference: { mean: 6, low: null, high: null }, significant: false });

  const everywhere = compareEvals(outcomes({ a: [1], b: [1], c: [1] }), outcomes({ a: [2], b: [2], c: [2] }));
  expect(everywhere.scorers[0]).toMatchObject({
    difference: { mean: 1, low: null, high: null },
    pValue: 0.25,
    significant: false,
  });
  const tied = compareEvals(
    outcomes({ a: [0.1, 0.2, 0.3], b: [1] }),
    outcomes({ a: [0.3, 0.2, 0.1], b: [1] }),
  );
  expect(changesOf(tied)).toEqual({ a: 'same', b: 'same' });
  expect(tied.scorers[0]).toMatchObject({ pValue: 1, significant: false });
});

it('counts a failed run as not passed, and a case whose runs all fail as worse', () => {
  const passes = compareEvals(outcomes({ a: [true, true] }), outcomes({ a: [true, 'failed'] }));
  expect(passes.cases[0]).toMatchObject({ change: 'worse', after: { count: 2, mean: 0.5 } });
  expect(passes.failedRuns).toEqual({ before: 0, after: 1 });
  const numbers = compareEvals(
    outcomes({ a: [7], b: ['failed'], c: ['failed'], d: [5, 5] }),
    outcomes({ a: ['failed'], b: [7], c: ['failed'], d: [5, 'failed'] }),
  );
  expect(changesOf(numbers)).toEqual({ a: 'worse', b: 'better', c: 'same', d: 'same' });
  const unscored = compareEvals(outcomes({ a: [7] }), [
    { caseId: 'a', status: 'completed', scores: { other: { score: 1, passed: null } } },
    ...outcomes({ b: [1] }),
  ]);
  expect(unscored.cases.find(({ caseId, scorer }) => caseId === 'a' && scorer === 's')?.change).toBe(
    'unscored',
  );
});

it('does not call one of many lucky cases significant', () => {
  // one case alone would be: 0 of 5 against 5 of 5 has p = 0.008
  const others = Array.from(
    { length: 40 },
    (_, index) => [`c${index}`, [true, false, true, false, true]] as const,
  );
  const fives = (value: boolean) => [value, value, value, value, value];
  const before = outcomes({ ...Object.fromEntries(others), lucky: fives(false) });
  const after = outcomes({ ...Object.fromEntries(others), lucky: fives(true) });
  const { cases } = compareEvals(before, after);
  expect(cases.filter(({ significant }) => significant)).toEqual([]);
  expect(cases.find(({ caseId }) => caseId === 'lucky')?.change).toBe('better');
});

it('looks at each of 10,000 cases a few times, and at their signs as often as is bounded', () => {
  let reads = 0;
  const counted = (one: ComparedOutcome): ComparedOutcome => ({
    caseId: one.caseId,
    status: one.status,
    get scores() {
      reads += 1;
      return one.scores;
    },
  });
  const many = (shift: number) => {
    const cases = Array.from({ length: 10_000 }, (_, index) => {
      const value = ((index * 7919) % 101) / 10;
      return [`c${index}`, [value, value + shift * ((index % 7) - 2.9)]] as const;
    });
    return outcomes(Object.fromEntries(cases)).map(counted);
  };
  const [before, after] = [many(0), many(0.1)];
  const { imul } = Math;
  let mixed = 0;
  Math.imul = (left, right) => {
    mixed += 1;
    return imul(left, right);
  };
  onTestFinished(() => {
    Math.imul = imul;
  });
  const { scorers, cases } = compareEvals(before, after);
  expect(reads).toBeLessThanOrEqual(4 * (before.length + after.length));
  // two for each 32 signs: 999 trials with a sign for each case
  expect(mixed).toBeLessThanOrEqual(2 * 1_000 * Math.ceil(10_000 / 32));
  expect(cases).toHaveLength(10_000);
  expect(scorers[0]?.significant).toBe(true);
});

it('refuses a level that no test can reach', () => {
  expect(() => compareEvals([], [], { level: 0 })).toThrow('level is 0. Give a number from 0.001 to 0.5.');
  expect(compareEvals([], [])).toMatchObject({ level: 0.05, scorers: [], cases: [] });
});
