import { errors } from '../../core/errors/errors.js';
import type { Scorer } from '../../core/evals/scorer.js';
import type { Evaluation } from './stored-eval.js';

/** The scorers that an eval can choose: those of the four kinds, the ready ones, and those of the application. */
export class EvalScorers {
  private readonly registered: ReadonlyMap<string, Scorer>;

  constructor(registered: readonly Scorer[]) {
    this.registered = new Map(registered.map((scorer) => [scorer.name, scorer]));
    if (this.registered.size < registered.length)
      throw errors.invalidConfig(
        'Two scorers of the service have the same name. Give one of them another name.',
      );
  }

  /** Throws for a scorer that does not exist, and for options that it does not take. */
  async of(evaluation: Evaluation): Promise<Scorer[]> {
    // a start does not wait for what only evals need
    const { scorersOf } = await import('./chosen-scorers.js');
    return scorersOf(evaluation, this.registered);
  }
}
