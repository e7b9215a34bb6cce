import { isJsonObject, type JsonObject } from '../../json.js';
import { read } from '../../runs/journal/codec.js';
import type { StepIdentity } from '../../runs/journal/journal-match.js';
import { type StepWaitKind, stepQuestion, stepWaitKinds } from './step-requirement.js';

/** What an answer decides about, each in words. */
export type Covered = readonly string[] | undefined;

export function covering(covers: Covered, data: JsonObject): JsonObject {
  return covers === undefined ? data : { ...data, covers: [...covers] };
}

/**
 * An answer belongs to the question that was asked: the same thing about the same step. How it is worded, and what
 * follows from the answer, may have changed.
 */
export function questionIdentity(kind: StepWaitKind, asked: JsonObject, covers: Covered): StepIdentity {
  // ways that are offered beside those that were are no difference
  const isChoice = kind === 'route_selection';
  return {
    is: inWords(kind, asked) + (isChoice ? '' : contents(covers)),
    was: (step) => {
      const recorded = read(step, stepQuestion);
      const words = inWords(
        stepWaitKinds.find((known) => known === step.name),
        recorded,
      );
      // records of earlier versions do not say what is inside
      const covered = recorded.covers;
      if (!isChoice) return words + contents(covered ?? covers);
      return words + goneOf(recorded, asked, covered, covers);
    },
  };
}

function contents(covers: Covered): string {
  return covers === undefined ? '' : ` of ${covers.join(', ')}`;
}

/** The ways that were offered and no longer are, or lead to something else. */
function goneOf(recorded: JsonObject, asked: JsonObject, covered: Covered, covers: Covered): string {
  const known = covered !== undefined && covers !== undefined;
  const then = known ? covered : choicesOf(recorded);
  const now = known ? covers : choicesOf(asked);
  return then
    .filter((choice) => !now.includes(choice))
    .map((choice) => `, with the choice ${choice}`)
    .join('');
}

function inWords(kind: StepWaitKind | undefined, asked: JsonObject): string {
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
    case 'step_suspend':
      return suspensionInWords(step, asked);
    case undefined:
      return `a question about ${step}`;
    case 'step_review':
      return [
        ...(asked.requires_confirmation === true ? ['the confirmation'] : []),
        ...(asked.requires_user_input === true ? [`the input (${fieldsOf(asked)})`] : []),
      ]
        .join(' and ')
        .concat(` for ${step} (${String(asked.step_type).toLowerCase()})`);
  }
}

/** A question that has a name may be worded in another way each time. */
function suspensionInWords(step: string, asked: JsonObject): string {
  const { question_name: name, confirmation_message: confirmed, user_input_message: filledIn } = asked;
  const which = name === undefined ? JSON.stringify(confirmed ?? filledIn) : `'${String(name)}'`;
  return `the question ${which} of ${step}${asked.requires_user_input === true ? ` (${fieldsOf(asked)})` : ''}`;
}

function fieldsOf({ user_input_schema: fields }: JsonObject): string {
  return (Array.isArray(fields) ? fields.filter((field) => isJsonObject(field)) : [])
    .map(({ name, field_type, required }) => `${name}: ${field_type}${required === false ? '?' : ''}`)
    .join(', ');
}

function choicesOf({ available_choices: choices }: JsonObject): readonly string[] {
  return Array.isArray(choices) ? choices.map((choice) => `'${String(choice)}'`) : [];
}
