import { errors } from '../errors/errors.js';
import type { Model } from '../models/model.js';
import type { EvalCase } from './eval-case.js';
import type { Scorer } from './scorer.js';

/** The bounds of one eval. */
export const evalBounds = {
  cases: 10_000,
  iterations: 100,
  warmups: 10,
  concurrency: 50,
  /** Runs of the component, over all cases. Each is a step of the job. */
  runs: 50_000,
} as const;

/** What an eval does. When it is executed again after a crash, it is the same: the same cases in the same order. */
export interface EvalPlan {
  /** Identifies the eval; the ids of its runs and sessions are made from it. */
  readonly evalId: string;
  readonly cases: readonly EvalCase[];
  /** How often each case is executed and scored. */
  readonly iterations: number;
  /** How often each case is executed before that, without a score. */
  readonly warmups: number;
  /** How many runs are executed at once. Times and memory mean something with one alone. */
  readonly concurrency: number;
  readonly scorers: readonly Scorer[];
  /** The model that judges. Left out: scorers that need one fail. */
  readonly judge?: Model;
  /** How many bytes the heap of this process takes now. Left out: memory is not measured. */
  readonly heapUsed?: () => number;
}

/** Throws an `invalid_config` that says which bound is exceeded, or which name is given twice. */
export function checkPlan({ cases, iterations, warmups, concurrency, scorers }: EvalPlan): void {
  const counts = { iterations, warmups, concurrency };
  const least = { iterations: 1, warmups: 0, concurrency: 1 };
  for (const name of ['iterations', 'warmups', 'concurrency'] as const) {
    const value = counts[name];
    if (!Number.isInteger(value) || value < least[name] || value > evalBounds[name])
      throw refused(`${name} is a whole number from ${least[name]} to ${evalBounds[name]}, not ${value}.`);
  }
  if (cases.length === 0) throw refused('an eval needs at least one case.');
  if (cases.length > evalBounds.cases)
    throw refused(`${cases.length} cases are too many: the limit is ${evalBounds.cases}.`);
  const runs = cases.length * (iterations + warmups);
  if (runs > evalBounds.runs)
    throw refused(`${runs} runs are too many: the limit is ${evalBounds.runs}. Lower the iterations.`);
  const twice = duplicate(cases.map(({ id }) => id));
  if (twice !== undefined) throw refused(`two cases have the id '${twice}'.`);
  const sameName = duplicate(scorers.map(({ name }) => name));
  if (sameName !== undefined)
    throw refused(`two scorers have the name '${sameName}'. Give one of them another name.`);
}

function duplicate(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => {
    const isKnown = seen.has(name);
    seen.add(name);
    return isKnown;
  });
}

function refused(text: string): Error {
  return errors.invalidConfig(`Eval: ${text}`);
}
