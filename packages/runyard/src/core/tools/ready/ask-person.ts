import { z } from 'zod';
import { lazySchema } from '../../schemas/lazy-schema.js';
import { type Tool, tool } from '../tool.js';

/** Bounds of what a model may put before a person at once. */
const mostFields = 20;
const mostQuestions = 4;
const mostOptions = 10;

const name = lazySchema(() => z.string().trim().min(1).max(100));
const text = lazySchema(() => z.string().max(1_000));

const fieldTypes = ['str', 'int', 'float', 'bool', 'list', 'dict'] as const;

/** Lets the model ask the user for values. The run pauses; what the user fills in is the result. */
export function getUserInput(): Tool {
  return tool({
    name: 'get_user_input',
    description:
      'Ask the user for values that you need and cannot know. The answer is a JSON object with a value for each field. Ask for everything at once.',
    inputSchema: z.object({
      user_input_fields: z
        .array(
          z.object({
            field_name: name.describe('A short name, unique among the fields, e.g. "departure_date"'),
            field_type: z.enum(fieldTypes).default('str').describe('What kind of value it is'),
            field_description: text.default('').describe('What to enter, in words for the user'),
          }),
        )
        .min(1)
        .max(mostFields)
        .refine((fields) => areDifferent(fields.map(({ field_name }) => field_name)), {
          error: 'two fields have the same name',
        })
        .describe('The fields that the user fills in'),
    }),
    askPerson: ({ user_input_fields }) => ({
      fields: user_input_fields.map(({ field_name, field_type, field_description }) => ({
        name: field_name,
        type: field_type,
        description: field_description || null,
      })),
    }),
  });
}

/** Lets the model ask the user questions with answers to choose from. The run pauses; the choices are the result. */
export function askUser(): Tool {
  const option = z.object({
    label: name.describe('The answer, in a few words'),
    description: text.default('').describe('What it means to choose it'),
  });
  return tool({
    name: 'ask_user',
    description:
      'Ask the user to choose among answers when you cannot decide without them. The answer is a JSON list with the chosen labels of each question.',
    inputSchema: z.object({
      questions: z
        .array(
          z.object({
            question: text.min(1).describe('The whole question'),
            header: z.string().max(100).default('').describe('A heading of a word or two'),
            multi_select: z.boolean().default(false).describe('Whether more than one answer may be chosen'),
            options: z
              .array(option)
              .min(2)
              .max(mostOptions)
              .refine((options) => areDifferent(options.map(({ label }) => label)), {
                error: 'two options have the same label',
              }),
          }),
        )
        .min(1)
        .max(mostQuestions)
        .describe('The questions'),
    }),
    askPerson: ({ questions }) => ({
      questions: questions.map(({ question, header, multi_select, options }) => ({
        question,
        header: header || null,
        multiSelect: multi_select,
        options: options.map(({ label, description }) => ({ label, description: description || null })),
      })),
    }),
  });
}

function areDifferent(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}
