import { errors } from '../../errors/errors.js';
import { checkOptions } from '../../options/check-options.js';
import { amount, anyOf, callable, flag, having, name, objectOf, required } from '../../options/kinds.js';
import type { Evidence, Score, Scorer, ScoringContext } from '../scorer.js';

/** A scorer as a function: a number is a score, a boolean says whether the run passed. */
export type ScorerFunction = (
  evidence: Evidence,
  context: Pick<ScoringContext, 'signal' | 'judge'>,
) => number | boolean | Score | Promise<number | boolean | Score>;

export interface OwnScorerOptions {
  readonly name: string;
  readonly score: ScorerFunction;
  /** The least score with which a run passes. Left out: a score alone. */
  readonly threshold?: number;
}

const ownScorerOptions = objectOf<OwnScorerOptions>({
  name: required(name),
  score: required(callable),
  threshold: amount('a number', () => true),
});

/** Makes a scorer of a function of the application. */
export function scorer(options: OwnScorerOptions): Scorer {
  checkOptions('scorer()', options, ownScorerOptions);
  const { name: called, score, threshold } = options;
  return {
    name: called,
    async score(evidence, { signal, judge, callApplication }) {
      const given = await callApplication(called, () => score(evidence, { signal, judge }));
      if (typeof given === 'boolean') return { score: null, passed: given };
      const said = typeof given === 'number' ? { score: given, passed: null } : given;
      if (threshold === undefined || typeof said?.score !== 'number' || typeof said.passed === 'boolean')
        return said;
      return { ...said, passed: said.score >= threshold };
    },
  };
}

/** For options: a scorer that was made, such as by `scorer()`. */
export const madeScorer = having<Scorer>('a scorer, such as scorer() makes', {
  name: required(name),
  needsJudge: flag,
  score: required(callable),
});

/** The same, or a function that has a name. */
export const scorerKind = {
  ...anyOf(callable, madeScorer),
  allowed: 'a scorer, or a function with a name',
};

export function scorerOf(given: Scorer | ScorerFunction): Scorer {
  if (typeof given !== 'function') return given;
  if (given.name === '')
    throw errors.invalidConfig('A scorer needs a name: write a named function, or scorer({ name, score }).');
  return scorer({ name: given.name, score: given });
}
