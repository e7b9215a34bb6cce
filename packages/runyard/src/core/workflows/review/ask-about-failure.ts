import type { StepNode } from '../definition/node.js';
import { type Flow, type Place, stepFields } from '../execution/flow.js';
import { ask } from './ask.js';
import { type ErrorRequirement, failureAnswer } from './step-requirement.js';

/** Asks a person what becomes of a step that failed. */
export async function askAboutFailure(
  flow: Flow,
  node: StepNode,
  place: Place,
  failure: { readonly type: string; readonly message: string },
  round: number,
): Promise<'retry' | 'skip'> {
  const fields = stepFields(node, place);
  const requirement: ErrorRequirement = {
    step_id: fields.step_id,
    step_name: fields.step_name,
    step_index: fields.step_index,
    error_message: failure.message,
    error_type: failure.type,
    retry_count: round - 1,
    decision: null,
  };
  const { decision } = await ask(flow, place, failureAnswer, {
    what: `error:${round}`,
    kind: 'step_error',
    requirement,
    event: { event: 'StepError', ...fields, error: failure.message },
  });
  return decision;
}
