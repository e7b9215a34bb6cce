import { checkOptions } from '../../options/check-options.js';
import type { Shape } from '../../options/kind.js';
import { count, name as nameKind, objectOf, text } from '../../options/kinds.js';
import { askJudge, scoreOf } from '../judge/judge.js';
import { leastScore, mostScore } from '../judge/judge-question.js';
import type { Scorer } from '../scorer.js';

export interface AccuracyOptions {
  /** Default `accuracy`. */
  readonly name?: string;
  /** What the judge has to observe, in the author's words. */
  readonly guidelines?: string;
  /** What the judge has to know beside the question and the answers. */
  readonly context?: string;
  /** The least score, 1 to 10, with which a run passes. Left out: scores alone. */
  readonly threshold?: number;
}

export const accuracyShape: Shape<AccuracyOptions> = {
  name: nameKind,
  guidelines: text,
  context: text,
  threshold: count(leastScore, mostScore),
};

/** A judge compares the output with the expected output of the case: a score from 1 to 10. */
export function accuracyScorer(options: AccuracyOptions = {}): Scorer {
  checkOptions('accuracyScorer()', options, objectOf(accuracyShape));
  const { name = 'accuracy', guidelines, context, threshold } = options;
  return {
    name,
    needsJudge: true,
    async score({ case: of, run }, scoring) {
      if (of.expectedOutput === undefined) throw new Error(`the case '${of.id}' has no expected output.`);
      const judgement = await askJudge(
        {
          scoring: 'numeric',
          task: 'You compare the output of an AI system with the expected output. Judge how accurate, complete and consistent with it the output is. Its wording may differ.',
          rules: { guidelines, context },
          material: { input: run.input, expected_output: of.expectedOutput, output: run.output },
        },
        scoring,
      );
      return scoreOf(judgement, threshold);
    },
  };
}
