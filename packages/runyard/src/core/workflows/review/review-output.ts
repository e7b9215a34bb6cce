import type { Json } from '../../json.js';
import type { ReviewCondition } from '../definition/functions.js';
import type { ReviewSettings, StepNode } from '../definition/node.js';
import { decide, readBoolean } from '../execution/decide.js';
import { type Flow, type Place, type Scope, stepFields, stepInput, tell } from '../execution/flow.js';
import { stepOutputReview } from '../workflow-events.js';
import { ask, isNews, timeoutOf } from './ask.js';
import { requirementOf, reviewAnswer, type StepRequirement } from './step-requirement.js';
import { type Verdict, verdictOn } from './verdict.js';

/** Whether a person has to look at the output of the step: what a function says about it is written down. */
export async function needsReview(
  flow: Flow,
  node: StepNode,
  { requiresOutputReview: needed = false }: ReviewSettings,
  place: Place,
  round: number,
  scope: Scope,
  contentOf: () => Json,
): Promise<boolean> {
  if (typeof needed === 'boolean') return needed;
  const question = {
    key: `needs-review:${round}`,
    what: `Whether the output of step '${node.name}' is reviewed`,
    by: needed,
    node,
    variables: () => ({}),
    ask: (decider: ReviewCondition) =>
      decider(contentOf(), stepInput(flow, place, scope, flow.context.state.fork())),
  };
  return decide(flow, place, question, readBoolean);
}

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
