import type { JsonObject } from '../../json.js';
import type { StepIdentity } from '../../runs/journal-match.js';
import type { StepWaitKind } from './step-requirement.js';

/**
 * An answer belongs to the question that was asked: the same thing about the same step. How it is worded, and what
 * follows from the answer, may have changed.
 */
export function questionIdentity(kind: StepWaitKind, asked: JsonObject): StepIdentity {
  return {
    is: inWords(kind, asked),
    was: ({ name, input }) => {
      const recorded = input as JsonObject;
      const gone = choicesOf(recorded).filter((choice) => !choicesOf(asked).includes(choice));
      const offered = gone.map((choice) => `, with the choice '${choice}'`).join('');
      return inWords(name as StepWaitKind, recorded) + offered;
    },
  };
}

function inWords(kind: StepWaitKind, asked: JsonObject): string {
  const step = `'${asked.step_name}'`;
  switch (kind) {
    case 'step_error':
      return `what becomes of the failed step ${step}`;
    case 'output_review':
      return `the review of the output of ${step}`;
    case 'iteration_review':
      return `the review of an iteration of ${step}`;
    case 'route_selection':
      return `the choice of a way at ${step}`;
    case 'step_review':
      return [
        ...(asked.requires_confirmation === true ? ['the confirmation'] : []),
        ...(asked.requires_user_input === true ? [`the input (${fieldsOf(asked)})`] : []),
      ]
        .join(' and ')
        .concat(` for ${step} (${String(asked.step_type).toLowerCase()})`);
  }
}

function fieldsOf({ user_input_schema: fields }: JsonObject): string {
  return ((fields ?? []) as JsonObject[])
    .map(({ name, field_type, required }) => `${name}: ${field_type}${required === false ? '?' : ''}`)
    .join(', ');
}

function choicesOf({ available_choices: choices }: JsonObject): readonly string[] {
  return (choices ?? []) as string[];
}
