import type { ReviewSettings, RouterNode } from '../definition/node.js';
import { contentsInWords } from '../definition/node-identity.js';
import { type Flow, type Place, stepFields, tell } from '../execution/flow.js';
import { routerPaused } from '../workflow-events.js';
import { ask, cancelled, isNews, timeoutOf } from './ask.js';
import { requirementOf, reviewAnswer, type StepRequirement } from './step-requirement.js';

/** What became of the choice of a router: it stands, a person makes it, or no way is taken. */
export type RouteVerdict = 'kept' | 'again' | { readonly skipped: string };

/** Asks a person whether the router has chosen well, before anything is done. */
export async function reviewRoute(
  flow: Flow,
  node: RouterNode,
  review: ReviewSettings,
  place: Place,
  selected: readonly string[],
): Promise<RouteVerdict> {
  const fields = stepFields(node, place);
  const requirement: StepRequirement = {
    ...requirementOf(fields, node.type, review, 0),
    requires_confirmation: true,
    confirmation_message:
      review.confirmationMessage ?? `Take ${selected.map((name) => `'${name}'`).join(', ')}?`,
    available_choices: node.steps.map(({ name }) => name),
    selected_choices: [...selected],
  };
  const what = 'route-review';
  const answer = await ask(flow, place, reviewAnswer, {
    what,
    kind: 'step_review',
    requirement,
    event: routerPaused(fields, requirement),
    covers: contentsInWords(node),
    ...timeoutOf(review),
  });
  const isKept = 'timed_out' in answer ? requirement.on_timeout === 'approve' : answer.confirmed;
  if (isKept) {
    if (isNews(flow, place, what))
      tell(flow, place, `${what}:continued`, { event: 'StepContinued', ...fields });
    return 'kept';
  }
  if ('timed_out' in answer) {
    if (requirement.on_timeout === 'skip') return { skipped: 'its choice was not reviewed in time' };
    throw cancelled(requirement, 'was not answered in time.');
  }
  if (requirement.on_reject === 'retry') return 'again';
  if (requirement.on_reject === 'skip') return { skipped: 'its choice was rejected' };
  const note = answer.rejection_feedback;
  throw cancelled(requirement, note ? `was rejected: ${note}` : 'was rejected.');
}
