import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { identifier } from '../../../platform/http/request/fields.js';
import { validatePart } from '../../../platform/http/request/validation.js';

const id = z.string().min(1).max(1_000);

/** OpenAI has the same bounds. */
export const metadataField = z
  .record(z.string().max(64), z.string().max(512))
  .refine((given) => Object.keys(given).length <= 16, 'at most 16 keys');

const anyJson = z.record(z.string(), z.json());

const textFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), name: id, schema: anyJson }),
]);

const functionTool = z.looseObject({
  type: z.literal('function', {
    error: ({ input }) =>
      `tools of the type '${String(input).slice(0, 40)}' are not offered: the component has its own. Send functions`,
  }),
  name: id,
  description: z.string().nullish(),
  parameters: anyJson.nullish(),
  strict: z.boolean().nullish(),
});

const toolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.looseObject({ type: z.literal('function'), name: id }),
    z.looseObject({
      type: z.literal('allowed_tools'),
      mode: z.enum(['auto', 'required']),
      tools: z.array(z.looseObject({ type: z.literal('function'), name: id })).max(128),
    }),
  ],
  'none, auto, required, { type: "function", name } or { type: "allowed_tools", mode, tools }',
);

/** One element of `input`; each type is read where it is used. */
const inputItem = z.record(z.string(), z.json());

export const inputItems = z.array(inputItem).max(10_000);

const responseBody = z.looseObject({
  model: id.nullish(),
  input: z.union([z.string(), inputItems], 'a text or a list of items').nullish(),
  instructions: z.string().nullish(),
  previous_response_id: id.nullish(),
  conversation: z.union([id, z.looseObject({ id })], 'an id or { id }').nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  store: z.boolean().nullish(),
  metadata: metadataField.nullish(),
  tools: z.array(functionTool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  text: z.looseObject({ format: textFormat.nullish() }).nullish(),
  user: identifier().nullish(),
  /** Answers as the run API has them, for what the protocol has no items for, or what a factory builds a run from. */
  runyard: z
    .looseObject({ requirements: inputItems.optional(), factory_input: anyJson.optional() })
    .refine(
      ({ requirements, factory_input }) => requirements !== undefined || factory_input !== undefined,
      'Send requirements, or factory_input for a new run',
    )
    .nullish(),
  prompt: z.null('prompt templates are not offered: send instructions').optional(),
});

export type ResponseBody = z.output<typeof responseBody>;

/** Reads a body. What it says of the model itself (temperature, …) is for the component to decide, and not read. */
export function readBody(given: unknown): ResponseBody {
  const body = checked(responseBody, given);
  if (body.previous_response_id != null && body.conversation != null)
    throw errors.openaiRequest(
      'Send previous_response_id or conversation, not both.',
      'previous_response_id',
    );
  if (body.background === true && body.store === false)
    throw errors.openaiRequest('A response in the background has to be stored.', 'store');
  return body;
}

/** What a part of a request has to be. */
export function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = validatePart('body', schema, given);
  if (!read.ok) throw errors.invalidRequest(read.items);
  return read.value;
}
