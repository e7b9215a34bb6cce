import { errors } from '../../core/errors/errors.js';
import { accuracyScorer } from '../../core/evals/kinds/accuracy.js';
import { judgeScorer } from '../../core/evals/kinds/agent-as-judge.js';
import { reliabilityScorer } from '../../core/evals/kinds/reliability.js';
import type { Scorer } from '../../core/evals/scorer.js';
import { scorerNames } from './eval-data.js';
import type { ChosenScorer, Evaluation } from './stored-eval.js';

/** The scorers of an eval. Performance has none: it is measured. */
export function scorersOf(evaluation: Evaluation, registered: ReadonlyMap<string, Scorer>): Scorer[] {
  const { guidelines, context, criteria = '', strategy: scoring, threshold } = evaluation;
  const { expectedToolCalls, allowAdditionalToolCalls, expectedArguments } = evaluation;
  switch (evaluation.evalType) {
    case 'accuracy':
      return [
        accuracyScorer({
          name: scorerNames.accuracy,
          ...(guidelines !== undefined && { guidelines }),
          ...(context !== undefined && { context }),
        }),
      ];
    case 'agent_as_judge':
      return [
        judgeScorer({
          name: scorerNames.judge,
          criteria,
          scoring,
          threshold,
          ...(guidelines !== undefined && { guidelines }),
        }),
      ];
    case 'performance':
      return [];
    case 'reliability':
      return [
        reliabilityScorer({
          name: scorerNames.reliability,
          allowAdditionalToolCalls,
          ...(expectedToolCalls !== undefined && { expectedToolCalls }),
          ...(expectedArguments !== undefined && { expectedArguments }),
        }),
      ];
    case 'custom':
      return (evaluation.scorers ?? []).map((chosen) => chosenScorer(chosen, registered));
  }
}

function chosenScorer({ name, options }: ChosenScorer, registered: ReadonlyMap<string, Scorer>): Scorer {
  const own = registered.get(name);
  if (own === undefined) throw errors.scorerUnknown(name, [...registered.keys()]);
  if (options !== undefined) throw errors.scorerInvalid(name, 'it takes no options.');
  return own;
}
