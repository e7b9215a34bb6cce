import { checkOptions } from '../../options/check-options.js';
import type { Shape } from '../../options/kind.js';
import { amount, listOf, name, objectOf } from '../../options/kinds.js';
import type { CaseChange, CaseComparison, EvalComparison, ScorerComparison } from '../eval-results.js';
import type { Score } from '../scorer.js';
import { statisticsOf } from '../statistics.js';
import { largestAccepted } from './discoveries.js';
import { signFlipPValue } from './sign-flip-test.js';
import { compareSamples, meanOfDifferences, type ValueKind } from './two-samples.js';

export interface CompareOptions {
  /** How often, at the most, a difference that is only chance may be called significant. Default: 0.05. */
  readonly level?: number;
  /** The names of scorers whose smaller numbers are better, such as costs. */
  readonly lowerIsBetter?: readonly string[];
}

export const smallestLevel = 0.001;
export const largestLevel = 0.5;
export const defaultLevel = 0.05;

const shape: Shape<CompareOptions> = {
  level: amount(
    `a number from ${smallestLevel} to ${largestLevel}`,
    (value) => value >= smallestLevel && value <= largestLevel,
  ),
  lowerIsBetter: listOf(name),
};

/** What a comparison reads of the outcome of one execution of a case. */
export interface ComparedOutcome {
  readonly caseId: string;
  /** Anything but `completed` is a failed run. */
  readonly status: string;
  readonly scores: Readonly<Record<string, Pick<Score, 'score' | 'passed'>>>;
}

/**
 * Compares two evals case by case, and says whether the difference is more than chance. Cases are matched by their ids,
 * in any order; the outcomes of one case are its iterations.
 */
export function compareEvals(
  before: readonly ComparedOutcome[],
  after: readonly ComparedOutcome[],
  options: CompareOptions = {},
): EvalComparison {
  checkOptions('A comparison of evals', options, objectOf<CompareOptions>(shape));
  const { level = defaultLevel, lowerIsBetter = [] } = options;
  const sides = { before: byCase(before), after: byCase(after) };
  const names = new Set([...before, ...after].flatMap(({ scores }) => Object.keys(scores)));
  const compared = [...names].map((name) =>
    compareScorer({ name, lowerIsBetter: lowerIsBetter.includes(name), level }, sides),
  );
  return {
    level,
    failedRuns: { before: before.filter(isFailed).length, after: after.filter(isFailed).length },
    scorers: compared.map(({ scorer }) => scorer),
    cases: compared.flatMap(({ cases }) => cases),
  };
}

type Cases = ReadonlyMap<string, readonly ComparedOutcome[]>;

interface Sides {
  readonly before: Cases;
  readonly after: Cases;
}

interface ComparedScorer {
  readonly name: string;
  readonly lowerIsBetter: boolean;
  readonly level: number;
}

function byCase(results: readonly ComparedOutcome[]): Cases {
  const cases = new Map<string, ComparedOutcome[]>();
  for (const result of results) {
    const known = cases.get(result.caseId);
    if (known === undefined) cases.set(result.caseId, [result]);
    else known.push(result);
  }
  return cases;
}

function isFailed({ status }: ComparedOutcome): boolean {
  return status !== 'completed';
}

function compareScorer(
  of: ComparedScorer,
  sides: Sides,
): { readonly scorer: ScorerComparison; readonly cases: readonly CaseComparison[] } {
  const { name, lowerIsBetter, level } = of;
  const kind = kindOf(name, sides);
  const [oldCases, newCases] = [scoredBy(name, sides.before), scoredBy(name, sides.after)];
  const values: { readonly before: number[]; readonly after: number[] } = { before: [], after: [] };
  const differences: number[] = [];
  const tested: CaseComparison[] = [];
  for (const caseId of new Set([...oldCases.keys(), ...newCases.keys()])) {
    const old = caseOf(oldCases.get(caseId), name, kind);
    const now = caseOf(newCases.get(caseId), name, kind);
    for (const value of old?.values ?? []) values.before.push(value);
    for (const value of now?.values ?? []) values.after.push(value);
    const hasBoth = old !== undefined && now !== undefined && old.values.length > 0 && now.values.length > 0;
    const samples = hasBoth ? compareSamples(old.values, now.values, kind, level) : undefined;
    if (samples !== undefined) differences.push(samples.difference.mean);
    tested.push({
      caseId,
      scorer: name,
      before: statisticsOf(old?.values ?? []),
      after: statisticsOf(now?.values ?? []),
      change: changeOf(old, now, samples?.difference.mean, lowerIsBetter),
      difference: samples?.difference ?? null,
      pValue: samples?.pValue ?? null,
      significant: false,
    });
  }
  const accepted = largestAccepted(
    tested.flatMap(({ pValue }) => pValue ?? []),
    level,
  );
  const cases = tested.map((one) => ({ ...one, significant: one.pValue !== null && one.pValue <= accepted }));
  const pValue = signFlipPValue(differences);
  return {
    cases,
    scorer: {
      name,
      lowerIsBetter,
      before: statisticsOf(values.before),
      after: statisticsOf(values.after),
      changes: countsOf(cases),
      difference: meanOfDifferences(differences, level),
      pValue,
      significant: pValue !== null && pValue <= level,
    },
  };
}

function scoreOf({ scores }: ComparedOutcome, scorer: string): ComparedOutcome['scores'][string] | undefined {
  // scorers may have any name, also one that every object inherits
  return Object.hasOwn(scores, scorer) ? scores[scorer] : undefined;
}

/** A scorer that never gave a number only says what passed. */
function kindOf(name: string, { before, after }: Sides): ValueKind {
  for (const cases of [before, after]) {
    for (const results of cases.values())
      if (results.some((result) => typeof scoreOf(result, name)?.score === 'number')) return 'number';
  }
  return 'pass';
}

/** An eval that does not use the scorer has none of its cases. */
function scoredBy(name: string, cases: Cases): Cases {
  for (const results of cases.values()) if (results.some((result) => scoreOf(result, name))) return cases;
  return new Map();
}

interface CaseValues {
  readonly values: readonly number[];
  readonly allFailed: boolean;
}

function caseOf(
  results: readonly ComparedOutcome[] | undefined,
  scorer: string,
  kind: ValueKind,
): CaseValues | undefined {
  if (results === undefined) return undefined;
  return {
    values: results.flatMap((result) => valueIn(result, scorer, kind) ?? []),
    allFailed: results.every(isFailed),
  };
}

/** A failed run is a case that did not pass; it has no number. */
function valueIn(result: ComparedOutcome, scorer: string, kind: ValueKind): number | undefined {
  const { score = null, passed = null } = scoreOf(result, scorer) ?? {};
  if (kind === 'number') return score !== null && Number.isFinite(score) ? score : undefined;
  if (isFailed(result)) return 0;
  return passed === null ? undefined : Number(passed);
}

function changeOf(
  old: CaseValues | undefined,
  now: CaseValues | undefined,
  difference: number | undefined,
  lowerIsBetter: boolean,
): CaseChange {
  if (old === undefined) return 'added';
  if (now === undefined) return 'removed';
  if (difference === undefined) {
    if (old.allFailed === now.allFailed) return old.allFailed ? 'same' : 'unscored';
    return old.allFailed ? 'better' : 'worse';
  }
  if (difference === 0) return 'same';
  return difference > 0 === lowerIsBetter ? 'worse' : 'better';
}

function countsOf(cases: readonly CaseComparison[]): Record<CaseChange, number> {
  const counts = { better: 0, worse: 0, same: 0, added: 0, removed: 0, unscored: 0 };
  for (const { change } of cases) counts[change] += 1;
  return counts;
}
