import type { JsonObject } from '../../json.js';
import type { Shaped } from '../../runs/journal/shapes.js';
import { asksBefore } from '../definition/check-tree.js';
import type { ReviewSettings, WorkflowNode } from '../definition/node.js';
import { contentsInWords } from '../definition/node-identity.js';
import { type Flow, type Place, stepFields, tell } from '../execution/flow.js';
import { stepPaused } from '../workflow-events.js';
import { ask, cancelled, isNews, timeoutOf } from './ask.js';
import { fieldBody, requirementOf, reviewAnswer, type StepRequirement } from './step-requirement.js';

/** What becomes of a node that a person was asked about before it ran. */
export type Before =
  | { readonly decision: 'run'; readonly userInput?: JsonObject }
  | { readonly decision: 'else'; readonly userInput?: undefined }
  | { readonly decision: 'skip'; readonly reason: string; readonly userInput?: undefined };

type Given = Shaped<typeof reviewAnswer.shape>;

/** Asks whether a node may run, and what a person has to fill in for it. Undefined: there is no question. */
export async function askBefore(
  flow: Flow,
  node: WorkflowNode,
  review: ReviewSettings,
  place: Place,
): Promise<Before | undefined> {
  if (!asksBefore(review)) return undefined;
  for (let asked = 0; ; asked += 1) {
    const requirement = questionOf(node, review, place, asked);
    const what = asked === 0 ? 'before' : `before:${asked + 1}`;
    const answer = await ask(flow, place, reviewAnswer, {
      what,
      kind: 'step_review',
      requirement,
      event: stepPaused(stepFields(node, place), requirement),
      covers: contentsInWords(node),
      ...timeoutOf(review),
    });
    const decision = decisionOn(requirement, answer);
    if (decision === undefined) continue;
    if (decision.decision === 'run' && isNews(flow, place, what))
      tell(flow, place, `${what}:continued`, { event: 'StepContinued', ...stepFields(node, place) });
    return decision;
  }
}

/** Undefined: it is asked again. */
function decisionOn(requirement: StepRequirement, answer: Given): Before | undefined {
  if ('timed_out' in answer) {
    if (requirement.on_timeout === 'approve') return { decision: 'run' };
    if (requirement.on_timeout === 'skip') return { decision: 'skip', reason: 'it was not answered in time' };
    throw cancelled(requirement, 'was not answered in time.');
  }
  if (answer.confirmed)
    return { decision: 'run', ...(answer.user_input !== undefined && { userInput: answer.user_input }) };
  const feedback = answer.rejection_feedback;
  const why = feedback === undefined || feedback === '' ? 'it was rejected' : `it was rejected (${feedback})`;
  switch (requirement.on_reject) {
    case 'else':
      return { decision: 'else' };
    case 'skip':
      return { decision: 'skip', reason: why };
    case 'retry':
      if (requirement.retry_count < requirement.max_retries) return undefined;
      throw cancelled(requirement, `was rejected ${requirement.retry_count + 1} times.`);
    case 'cancel':
      throw cancelled(requirement, feedback ? `was rejected: ${feedback}` : 'was rejected.');
  }
}

function questionOf(
  node: WorkflowNode,
  review: ReviewSettings,
  place: Place,
  asked: number,
): StepRequirement {
  const { userInputSchema = [] } = review;
  const asksInput = userInputSchema.length > 0;
  return {
    ...requirementOf(stepFields(node, place), node.type, review, asked),
    requires_confirmation: review.requiresConfirmation ?? false,
    confirmation_message: review.confirmationMessage ?? null,
    requires_user_input: asksInput,
    user_input_message: review.userInputMessage ?? null,
    ...(asksInput && { user_input_schema: userInputSchema.map(fieldBody) }),
  };
}
