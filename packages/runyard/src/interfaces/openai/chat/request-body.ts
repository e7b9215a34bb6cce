import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { identifier } from '../../../platform/http/request/fields.js';
import { validatePart } from '../../../platform/http/request/validation.js';

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const contentPart = z.discriminatedUnion('type', [
  textPart,
  z.looseObject({
    type: z.literal('image_url'),
    image_url: z.looseObject({ url: z.string().min(1), detail: z.string().nullish() }),
  }),
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: z.string().min(1), format: z.string().max(40) }),
  }),
  z.looseObject({
    type: z.literal('file'),
    file: z.looseObject({
      file_data: z.string().min(1).nullish(),
      filename: z.string().max(1_000).nullish(),
      file_id: z.string().nullish(),
    }),
  }),
]);
const texts = z.union([z.string(), z.array(textPart).max(1_000)]);

const assistantPart = z.discriminatedUnion('type', [
  textPart,
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
]);

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content: texts }),
  z.looseObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(contentPart).max(1_000)]),
  }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(assistantPart).max(1_000)]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string().min(1).max(1_000),
          type: z.literal('function'),
          function: z.looseObject({ name: z.string(), arguments: z.string() }),
        }),
      )
      .max(1_000)
      .nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content: texts, tool_call_id: z.string().min(1).max(1_000) }),
]);

const functionTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
    strict: z.boolean().nullish(),
  }),
});
const namedTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string() }),
});
const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  namedTool,
  z.looseObject({
    type: z.literal('allowed_tools'),
    allowed_tools: z.looseObject({
      mode: z.enum(['auto', 'required']),
      tools: z.array(namedTool).max(1_000),
    }),
  }),
]);

const responseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: z.string().min(1).max(200),
      description: z.string().nullish(),
      schema: z.record(z.string(), z.json()).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** An answer to what a paused run waits for, in simple fields. */
const simpleAnswer = z.strictObject({
  id: z.string().optional(),
  confirmed: z.boolean().optional(),
  note: z.string().optional(),
  values: z.record(z.string(), z.json()).optional(),
  selected: z.array(z.union([z.string(), z.array(z.string())])).optional(),
  result: z.json().optional(),
  decision: z.enum(['retry', 'skip']).optional(),
});

/** What Runyard adds to a request: the answers to a paused run, or what a factory builds a new one from. */
const runyardFields = z
  .strictObject({
    run_id: identifier().optional(),
    answers: z.array(simpleAnswer).max(1_000).optional(),
    requirements: z.array(z.record(z.string(), z.json())).max(1_000).optional(),
    factory_input: z.record(z.string(), z.json()).optional(),
  })
  .refine(
    ({ run_id, factory_input, answers, requirements }) =>
      factory_input === undefined
        ? run_id !== undefined
        : [run_id, answers, requirements].every((one) => one === undefined),
    'Send run_id with the answers to that run, or factory_input alone for a new run',
  );

/**
 * Parameters without an effect: the component has its own model and settings, and its runs are stored as the service
 * says. The page docs/openai.md lists them.
 */
const ignored = [
  'frequency_penalty',
  'logit_bias',
  'max_completion_tokens',
  'max_tokens',
  'min_p',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning_effort',
  'repetition_penalty',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'temperature',
  'top_k',
  'top_p',
  'verbosity',
] as const;

/** Parameters that ask for something that no answer here has, with what to do instead. */
const refused: Readonly<Record<string, string>> = {
  audio: 'Answers have no audio track. Leave it out.',
  function_call: 'Functions are given as tools. Use tool_choice.',
  functions: 'Functions are given as tools. Use tools.',
  logprobs: 'There are no log probabilities. Leave it out.',
  moderation: 'Add a guardrail to the component instead.',
  top_logprobs: 'There are no log probabilities. Leave it out.',
  web_search_options: 'Give the component a tool that searches instead.',
};

const unknowns = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, z.unknown().optional()]));

const chatBody = z.strictObject({
  ...unknowns(ignored),
  ...unknowns(Object.keys(refused)),
  model: z.string().min(1).max(1_000),
  messages: z.array(message).min(1).max(2_000),
  stream: z.boolean().nullish(),
  stream_options: z
    .looseObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .nullish(),
  tools: z.array(functionTool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: responseFormat.nullish(),
  modalities: z.array(z.string()).nullish(),
  n: z.number().nullish(),
  user: identifier().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  runyard: runyardFields.nullish(),
});

export type ChatBody = z.output<typeof chatBody>;
export type ChatMessage = ChatBody['messages'][number];
export type ContentPart = z.output<typeof contentPart>;

/** Reads a request. What is wrong with it is named by the parameter that it is wrong in. */
export function readChatBody(given: unknown): ChatBody {
  const checked = validatePart('body', chatBody, given);
  if (!checked.ok) throw errors.invalidRequest(checked.items);
  const body = checked.value;
  const fields: Readonly<Record<string, unknown>> = body;
  for (const [name, advice] of Object.entries(refused)) {
    const value = fields[name] ?? false;
    if (value !== false)
      throw errors.openaiRequest(`${name} is not supported. ${advice}`, name, 'unsupported_parameter');
  }
  if ((body.n ?? 1) !== 1)
    throw errors.openaiRequest('n must be 1: a request starts one run.', 'n', 'unsupported_value');
  if (body.modalities?.some((one) => one !== 'text'))
    throw errors.openaiRequest("modalities must be ['text'].", 'modalities', 'unsupported_value');
  return body;
}
