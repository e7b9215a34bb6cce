import type { RouterNode } from '../definition/node.js';
import { nodeInWords } from '../definition/node-identity.js';
import { type Flow, type Place, stepFields } from '../execution/flow.js';
import { routerPaused } from '../workflow-events.js';
import { ask, cancelled, timeoutOf } from './ask.js';
import { requirementOf, routeAnswer, type StepRequirement } from './step-requirement.js';

/** Asks a person which way to take. Undefined: no answer came in time, and no way is taken. */
export async function askForRoute(flow: Flow, node: RouterNode, place: Place): Promise<string[] | undefined> {
  const review = node.review ?? {};
  const choices = node.steps.map(({ name }) => name);
  const requirement: StepRequirement = {
    ...requirementOf(stepFields(node, place), node.type, review, 0),
    requires_route_selection: true,
    user_input_message: review.userInputMessage ?? null,
    available_choices: choices,
    allow_multiple_selections: node.allowMultiple,
  };
  const answer = await ask(flow, place, routeAnswer, {
    what: 'route',
    kind: 'route_selection',
    requirement,
    event: routerPaused(stepFields(node, place), requirement),
    covers: node.steps.map(nodeInWords),
    ...timeoutOf(review),
  });
  if (!('timed_out' in answer)) return answer.selected_choices;
  // silence chooses no way
  if (requirement.on_timeout === 'cancel') throw cancelled(requirement, 'was not answered in time.');
  return undefined;
}
