import { errors } from '../../errors/errors.js';
import { checkOptions } from '../../options/check-options.js';
import type { Shape } from '../../options/kind.js';
import { count, name as nameKind, objectOf, required, text, word } from '../../options/kinds.js';
import { askJudge, scoreOf } from '../judge/judge.js';
import { type JudgeScoring, leastScore, mostScore } from '../judge/judge-question.js';
import type { Scorer } from '../scorer.js';

export interface JudgeOptions {
  /** Default `judge`. */
  readonly name?: string;
  /** What a good output is. */
  readonly criteria: string;
  /** `numeric`: a score from 1 to 10; `binary`: passed or not. Default `binary`. */
  readonly scoring?: JudgeScoring;
  /** The least numeric score, 1 to 10, with which a run passes. Default 7. */
  readonly threshold?: number;
  /** What the judge has to observe, in the author's words. */
  readonly guidelines?: string;
}

const defaultThreshold = 7;

export const judgeShape: Shape<JudgeOptions> = {
  name: nameKind,
  criteria: required(nameKind),
  scoring: word('numeric', 'binary'),
  threshold: count(leastScore, mostScore),
  guidelines: text,
};

/** A binary judgement has no score that a threshold could be compared with. */
export function assertNumericThreshold(owner: string, { scoring, threshold }: Partial<JudgeOptions>): void {
  if (threshold !== undefined && scoring !== 'numeric')
    throw errors.invalidConfig(`${owner}: threshold belongs to scoring: 'numeric'.`);
}

/** A judge decides whether, or how well, the output meets criteria. */
export function judgeScorer(options: JudgeOptions): Scorer {
  checkOptions('judgeScorer()', options, objectOf(judgeShape));
  assertNumericThreshold('judgeScorer()', options);
  const { name = 'judge', criteria, scoring = 'binary', threshold = defaultThreshold, guidelines } = options;
  return {
    name,
    needsJudge: true,
    async score({ case: of, run }, context) {
      const judgement = await askJudge(
        {
          scoring,
          task: 'You judge the output of an AI system by the criteria below, and by nothing else.',
          rules: { criteria, guidelines },
          material: { input: run.input, expected_output: of.expectedOutput, output: run.output },
        },
        context,
      );
      return scoreOf(judgement, threshold);
    },
  };
}
