import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** What a person reads about a step that waits, from its requirement of the wire. */
export function stepQuestionText(requirement: JsonObject): string {
  if ('error_message' in requirement)
    return `The step '${String(requirement.step_name)}' of the workflow failed: ${String(requirement.error_message)}`;
  const named = ['confirmation_message', 'user_input_message', 'output_review_message'];
  const said = named.flatMap((name) => (requirement[name] ? [String(requirement[name])] : []));
  const output = isJsonObject(requirement.step_output) ? requirement.step_output.content : undefined;
  const shown = output === undefined || output === null ? [] : [`The output of the step: ${textOf(output)}`];
  const about = `The workflow waits at the step '${String(requirement.step_name)}'.`;
  return [about, ...said, ...shown].join('\n');
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
