import type { ReviewSettings, StepNode } from '../definition/node.js';
import { type Flow, type Place, stepFields, tell } from '../execution/flow.js';
import { stepOutputReview } from '../workflow-events.js';
import { ask, isNews, timeoutOf } from './ask.js';
import { requirementOf, reviewAnswer, type StepRequirement } from './step-requirement.js';
import { type Verdict, verdictOn } from './verdict.js';

/** Asks a person to accept the output of the step. */
export async function reviewOutput(
  flow: Flow,
  node: StepNode,
  review: ReviewSettings,
  place: Place,
  round: number,
  tellFirst: () => void,
): Promise<Verdict> {
  const fields = stepFields(node, place);
  const requirement: StepRequirement = {
    ...requirementOf(fields, node.type, { onReject: 'retry', ...review }, round - 1),
    requires_output_review: true,
    output_review_message: review.outputReviewMessage ?? null,
    is_post_execution: true,
  };
  const what = `review:${round}`;
  const answer = await ask(flow, place, reviewAnswer, {
    what,
    kind: 'output_review',
    requirement,
    event: stepOutputReview(fields, requirement),
    before: tellFirst,
    ...timeoutOf(review),
  });
  const verdict = verdictOn(requirement, `The output of step '${node.name}'`, answer);
  if (verdict.verdict === 'again' && isNews(flow, place, what))
    tell(flow, place, `${what}:continued`, { event: 'StepContinued', ...fields });
  return verdict;
}
