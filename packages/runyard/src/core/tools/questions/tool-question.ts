import type { JsonObject } from '../../json.js';
import { fieldsOf } from '../../objects.js';
import { isObject } from '../../options/faults.js';
import {
  anyOf,
  flag,
  kind,
  listOf,
  name,
  none,
  objectOf,
  required,
  text,
  word,
} from '../../options/kinds.js';
import type { RunPaused } from '../../runs/context.js';
import type { InputField } from './person-form.js';

/** What a tool asks a person while it is executed. Without fields, whether they agree. */
export interface ToolQuestion {
  readonly message: string;
  readonly fields?: readonly InputField[];
}

/** What the person answered. The values are by the names of the fields; those that were left empty are missing. */
export type QuestionAnswer =
  | { readonly action: 'accept'; readonly values: JsonObject }
  | { readonly action: 'decline'; readonly note?: string }
  | { readonly action: 'cancel' };

export type AskPerson = (question: ToolQuestion) => Promise<QuestionAnswer>;

/** The questions of one call. */
export interface CallQuestions {
  /** Asks from the first question on: for one attempt of the tool. */
  series(): AskPerson;
  /** Set once the call has to wait for an answer. */
  readonly paused: RunPaused | undefined;
}

/** For code that is not executed as a tool within the run of an agent. */
export const nobodyToAsk: AskPerson = () =>
  Promise.reject(new Error('Only a tool that an agent calls can ask a person, while it is executed.'));

export function askedTooLate(): Promise<never> {
  return Promise.reject(new Error('The question comes too late: the call of the tool has ended.'));
}

const typesOfJson = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** A field with a schema that no value fits could not be answered. */
const valueSchema = kind("a JSON schema such as { enum: ['S', 'M'] }", (value) => {
  const { type = [], '~standard': ofLibrary } = fieldsOf(value);
  if (!isObject(value) || ofLibrary !== undefined) return false;
  return [type].flat().every((one) => typeof one === 'string' && typesOfJson.includes(one));
});

const field = objectOf<InputField>({
  name: required(name),
  type: required(word('str', 'int', 'float', 'bool', 'list', 'dict')),
  description: anyOf(text, none),
  optional: flag,
  schema: valueSchema,
});

export const toolQuestion = objectOf<ToolQuestion>({ message: required(name), fields: listOf(field) });
