import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core/json.js';
import type { Asked, Choice, InputField, Question, SimpleAnswer } from './question.js';

type RequestedSchema = ElicitRequestFormParams['requestedSchema'];
type Property = RequestedSchema['properties'][string];

/** A question as a form of the protocol, and how its content is read. */
export interface QuestionForm {
  readonly message: string;
  readonly schema: RequestedSchema;
  /** Undefined for content that answers nothing. */
  answer(content: JsonObject): SimpleAnswer | undefined;
}

/** More than a person reads. What is cut would not be what they agree to. */
const longestMessage = 10_000;

/** The form; undefined for a question that a form cannot ask, and for one that is not this person's to answer. */
export function formOf(
  { asked, message, needsApproval }: Question,
  lists: boolean,
): QuestionForm | undefined {
  if (needsApproval || message.length > longestMessage) return undefined;
  const form = fieldsOf(asked, lists);
  return form && { message, ...form };
}

function fieldsOf(asked: Asked, lists: boolean): Omit<QuestionForm, 'message'> | undefined {
  switch (asked.kind) {
    case 'confirmation':
      return {
        schema: {
          type: 'object',
          properties: {
            confirmed: { type: 'boolean', title: 'Agree' },
            note: { type: 'string', title: 'Note', description: asked.noteInWords },
          },
          required: ['confirmed'],
        },
        answer: ({ confirmed, note }) => ({
          confirmed: confirmed === true,
          ...(typeof note === 'string' && note !== '' && { note }),
        }),
      };
    case 'input':
      return inputForm(asked.fields);
    case 'choice':
      return choiceForm(asked.choices, lists);
    case 'decision':
      return {
        schema: {
          type: 'object',
          properties: { decision: { type: 'string', title: 'What to do', enum: ['retry', 'skip'] } },
          required: ['decision'],
        },
        answer: ({ decision }) => (decision === 'retry' || decision === 'skip' ? { decision } : undefined),
      };
    case 'result':
      return undefined;
  }
}

export function inputForm(fields: readonly InputField[]): Omit<QuestionForm, 'message'> | undefined {
  const properties = fields.map((field): [string, Property | undefined] => [field.name, propertyOf(field)]);
  // forms are flat: a list or an object has no place in them
  if (!properties.every((entry): entry is [string, Property] => entry[1] !== undefined)) return undefined;
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    schema: { type: 'object', properties: Object.fromEntries(properties), required },
    answer: (content) => ({
      values: Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null)),
    }),
  };
}

const typesOfForms = new Map<string, 'string' | 'integer' | 'number' | 'boolean'>([
  ['str', 'string'],
  ['int', 'integer'],
  ['float', 'number'],
  ['bool', 'boolean'],
]);

function propertyOf({ name, type, description, value, schema, allowed }: InputField): Property | undefined {
  const labelled = { title: name, ...(description !== undefined && { description }) };
  const labels = allowed ?? (Array.isArray(schema?.enum) ? schema.enum : undefined);
  if (type === 'str' && labels?.every((label) => typeof label === 'string'))
    return {
      ...labelled,
      type: 'string',
      enum: labels.map(String),
      ...(typeof value === 'string' && { default: value }),
    };
  const formType = typesOfForms.get(type);
  if (formType === 'string')
    return { ...labelled, type: formType, ...(typeof value === 'string' && { default: value }) };
  if (formType === 'boolean')
    return { ...labelled, type: formType, ...(typeof value === 'boolean' && { default: value }) };
  if (formType === undefined) return undefined;
  return { ...labelled, type: formType, ...(typeof value === 'number' && { default: value }) };
}

function choiceForm(choices: readonly Choice[], lists: boolean): Omit<QuestionForm, 'message'> | undefined {
  if (!lists && choices.some(({ multiple }) => multiple)) return undefined;
  const names = choices.map((_, at) => `choice_${at + 1}`);
  const properties = choices.map(({ question, labels, multiple }, at): [string, Property] => {
    const one = { type: 'string' as const, enum: [...labels] };
    const property: Property = multiple
      ? { type: 'array', title: question, items: one }
      : { ...one, title: question };
    return [names[at] ?? '', property];
  });
  return {
    schema: { type: 'object', properties: Object.fromEntries(properties), required: names },
    answer: (content) => ({ selected: names.map((name) => [content[name]].flat().map(String)) }),
  };
}
