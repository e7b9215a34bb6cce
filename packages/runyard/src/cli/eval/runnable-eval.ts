import type { Eval } from '../../core/evals/definition/eval.js';

/**
 * What the command needs of an eval. Recognized by its brand, not its class: the application may bring its own copy of
 * the package.
 */
export type RunnableEval = Pick<Eval, 'name' | 'kind' | 'component' | 'run'>;

const brand = Symbol.for('runyard.eval');

export function isEval(value: unknown): value is RunnableEval {
  return typeof value === 'object' && value !== null && brand in value;
}
