import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import { parseUntrustedJson } from '../../../platform/http/request/json-text.js';
import {
  type Choice,
  type InputField,
  objectsIn,
  type Question,
  type SimpleAnswer,
} from '../../common/answers/question.js';

/** Slack's lists have so many options; a longer one is answered in words. */
const mostOptions = 100;
const longestLabel = 75;
const longestValue = 3_000;
const longestId = 100;

type Values = Readonly<Record<string, JsonObject>>;

/** What was filled in, or what is wrong with it. */
export type Filled = { readonly answer: SimpleAnswer } | { readonly faults: readonly string[] };

/** The fields that a question is answered with. */
export function inputsOf(question: Question): JsonObject[] {
  const { asked } = question;
  if (asked.kind === 'input')
    return asked.fields.map((field, at) => {
      const id = blockId(question, at);
      return input(id, field.name, fieldElement(field, at), !field.required, field.description);
    });
  if (asked.kind === 'choice')
    return asked.choices.map((choice, at) =>
      input(blockId(question, at), choice.question, choiceElement(choice, at), false),
    );
  if (asked.kind === 'result')
    return [input(blockId(question, 0), 'Result', textElement('external_result', ''), false)];
  return [];
}

/** Reads the answer to a question from the state of its message. */
export function filledIn(question: Question, state: unknown): Filled {
  const values = valuesIn(state);
  const { asked } = question;
  const faults: string[] = [];
  const read = <T>(at: number, name: string, take: (given: JsonObject | undefined) => T): T | undefined => {
    try {
      return take(values[blockId(question, at)]);
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  let answer: SimpleAnswer = {};
  if (asked.kind === 'input') {
    const entries = asked.fields.map((field, at) => [
      field.name,
      read(at, field.name, (given) => fieldValue(field, given)),
    ]);
    answer = { values: Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
    if (asked.confirms) answer = { ...answer, confirmed: true };
  } else if (asked.kind === 'choice') {
    const chosen = asked.choices.map(
      (choice, at) => read(at, choice.question, (given) => chosenIn(choice, given)) ?? [],
    );
    answer = { selected: chosen };
  } else if (asked.kind === 'result')
    answer = { result: read(0, 'Result', (given) => required(textIn(given))) };
  return faults.length > 0 ? { faults } : { answer };
}

export function reasonIn(blockIdOfReason: string, state: unknown): string | undefined {
  return textIn(valuesIn(state)[blockIdOfReason]) || undefined;
}

function blockId({ about, asked }: Question, at: number): string {
  const [kind, part] =
    asked.kind === 'input'
      ? ['user_input', nameOf(asked.fields[at]?.name ?? '', at)]
      : asked.kind === 'choice'
        ? ['user_feedback', `q${at}`]
        : ['external_execution', 'result'];
  return `row:${about.requirementId.slice(0, 100)}:${kind}:pending:${part}`;
}

/** Slack has no longer ids. */
function nameOf(field: string, at: number): string {
  return field.length <= longestId ? field : String(at);
}

function input(id: string, label: string, element: JsonObject, optional: boolean, hint?: string): JsonObject {
  return {
    type: 'input',
    block_id: id,
    optional,
    label: { type: 'plain_text', text: label.slice(0, 2_000) || '?' },
    element,
    ...(hint && { hint: { type: 'plain_text', text: hint.slice(0, 2_000) } }),
  };
}

/** The values that a field allows, where it has a list of them. */
function labelsOf({ type, allowed, schema }: InputField): readonly Json[] | undefined {
  if (type === 'bool') return [true, false];
  const labels = allowed ?? (Array.isArray(schema?.enum) ? schema.enum : undefined);
  return labels !== undefined && labels.length > 0 && labels.length <= mostOptions ? labels : undefined;
}

function fieldElement(field: InputField, at: number): JsonObject {
  const labels = labelsOf(field);
  const action = `input_field:${nameOf(field.name, at)}`;
  if (labels === undefined) return textElement(action, shown(field.value));
  const options = labels.map((label, index) =>
    option(typeof label === 'boolean' ? (label ? 'Yes' : 'No') : shown(label), index),
  );
  const initial = options[labels.indexOf(field.value)];
  return { type: 'static_select', action_id: action, options, ...(initial && { initial_option: initial }) };
}

function choiceElement({ labels, multiple }: Choice, at: number): JsonObject {
  const action = `feedback_select:${at}`;
  if (labels.length === 0 || labels.length > mostOptions) return textElement(action, '');
  const options = labels.map(option);
  if (!multiple) return { type: 'static_select', action_id: action, options };
  return { type: options.length <= 10 ? 'checkboxes' : 'multi_static_select', action_id: action, options };
}

function textElement(action: string, initial: string): JsonObject {
  return {
    type: 'plain_text_input',
    action_id: action,
    multiline: true,
    max_length: longestValue,
    ...(initial !== '' && initial.length <= longestValue && { initial_value: initial }),
  };
}

/** An option is known by its place: labels may be longer than Slack shows. */
function option(label: string, at: number): JsonObject {
  const text = label.length > longestLabel ? `${label.slice(0, longestLabel - 1)}…` : label || '(empty)';
  return { text: { type: 'plain_text', text }, value: String(at) };
}

function fieldValue(field: InputField, given: JsonObject | undefined): Json | undefined {
  const labels = labelsOf(field);
  if (labels !== undefined) {
    const [at] = optionsIn(given);
    if (at === undefined) return missing(field);
    return labels[at] ?? missing(field);
  }
  const text = textIn(given);
  if (text === '') return missing(field);
  switch (field.type) {
    case 'str':
      return text;
    case 'int':
      if (!/^\s*[+-]?\d+\s*$/.test(text) || !Number.isSafeInteger(Number(text)))
        throw new Error('a whole number is expected');
      return Number(text);
    case 'float':
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw new Error('a number is expected');
      return Number(text);
    default:
      return jsonIn(text);
  }
}

function missing({ required: isRequired }: InputField): undefined {
  if (isRequired) throw new Error('a value is missing');
  return undefined;
}

/** Lists and objects are written as JSON. */
function jsonIn(text: string): Json {
  try {
    return parseUntrustedJson(text);
  } catch {
    throw new Error('JSON is expected, such as ["a", "b"]');
  }
}

function chosenIn({ labels, multiple }: Choice, given: JsonObject | undefined): string[] {
  if (labels.length === 0 || labels.length > mostOptions) return [required(textIn(given))];
  const chosen = optionsIn(given).flatMap((at) => labels[at] ?? []);
  if (chosen.length === 0) throw new Error(multiple ? 'choose at least one' : 'choose one');
  return chosen;
}

function required(text: string): string {
  if (text === '') throw new Error('a value is missing');
  return text;
}

function shown(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The values of a message by block; each has one element. */
function valuesIn(state: unknown): Values {
  const values = isJsonObject(state) && isJsonObject(state.values) ? state.values : {};
  return Object.fromEntries(
    Object.entries(values).flatMap(([id, elements]) => {
      const [element] = isJsonObject(elements) ? objectsIn(Object.values(elements)) : [];
      return element === undefined ? [] : [[id, element]];
    }),
  );
}

function textIn(given: JsonObject | undefined): string {
  return typeof given?.value === 'string' ? given.value : '';
}

function optionsIn(given: JsonObject | undefined): number[] {
  return objectsIn([given?.selected_option, ...objectsIn(given?.selected_options)].flat()).map(({ value }) =>
    Number(value),
  );
}
