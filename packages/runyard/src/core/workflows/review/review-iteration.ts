import type { LoopNode, ReviewSettings } from '../definition/node.js';
import { type Flow, type Place, stepFields, tell } from '../execution/flow.js';
import { stepOutputReview } from '../workflow-events.js';
import { ask, isNews, timeoutOf } from './ask.js';
import { requirementOf, reviewAnswer, type StepRequirement } from './step-requirement.js';
import { type Verdict, verdictOn } from './verdict.js';

/**
 * Asks a person about an iteration of a loop. An accepted one is kept, and the loop continues or ends by its own
 * condition; a rejected one is done again, or ends the loop without a result.
 */
export async function reviewIteration(
  flow: Flow,
  node: LoopNode,
  review: ReviewSettings,
  place: Place,
  { number, retry }: { readonly number: number; readonly retry: number },
): Promise<Verdict> {
  const fields = stepFields(node, place);
  const requirement: StepRequirement = {
    ...requirementOf(fields, node.type, { onReject: 'retry', ...review }, retry),
    requires_output_review: true,
    output_review_message: review.outputReviewMessage ?? null,
    is_post_execution: true,
  };
  const what = `iteration:${number}:${retry}`;
  const answer = await ask(flow, place, reviewAnswer, {
    what,
    kind: 'iteration_review',
    requirement,
    event: stepOutputReview(fields, requirement),
    ...timeoutOf(review),
  });
  const verdict = verdictOn(requirement, `Iteration ${number} of loop '${node.name}'`, answer);
  if (verdict.verdict === 'again' && isNews(flow, place, what))
    tell(flow, place, `${what}:continued`, { event: 'StepContinued', ...fields });
  return verdict;
}
