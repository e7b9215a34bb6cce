import { z } from 'zod';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import { identifier } from '../../platform/http/request/fields.js';
import { jsonValue } from './json-value.js';

const text = z.string().max(2_000_000);
const id = identifier().min(1);

/** A part of a message. What is not read here is kept out of the run: steps, sources, data of the server. */
const part = z.looseObject({
  type: z.string().max(200),
  text: text.optional(),
  mediaType: z.string().max(200).optional(),
  filename: z.string().max(1_000).optional(),
  url: z.string().optional(),
  toolCallId: z.string().max(1_000).optional(),
  toolName: z.string().max(200).optional(),
  state: z.string().max(100).optional(),
  input: jsonValue.optional(),
  output: jsonValue.optional(),
  errorText: text.optional(),
  approval: z
    .looseObject({ approved: z.boolean().optional(), reason: z.string().max(10_000).optional() })
    .optional(),
});

const message = z.looseObject({
  id: z.string().max(1_000).optional(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(part).max(2_000),
});

export type UiPart = z.output<typeof part>;
export type UiMessage = z.output<typeof message>;

const tool = z.looseObject({
  name: z.string().max(200),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), jsonValue).optional(),
});

const answer = lazyObject(() => ({
  id: z.string().max(1_000).optional(),
  confirmed: z.boolean().optional(),
  note: z.string().max(10_000).optional(),
  values: z.record(z.string(), jsonValue).optional(),
  selected: z
    .array(z.union([z.string(), z.array(z.string())]))
    .max(1_000)
    .optional(),
  result: jsonValue.optional(),
  decision: z.enum(['retry', 'skip']).optional(),
}));

/** What the default transport of `useChat` posts, and what an application may add to it with `body`. */
export const chatBody = z.looseObject({
  id,
  messages: z.array(message).min(1).max(2_000),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: z.string().max(1_000).nullish(),
  /** Tools that the page executes. */
  tools: z.array(tool).optional(),
  /** Answers to questions that no part of a message can hold. */
  answers: z.array(answer).max(1_000).optional(),
  /** The same as the REST API takes them. */
  requirements: z.array(z.record(z.string(), jsonValue)).max(1_000).optional(),
  /** Whom the run belongs to. It counts only without authentication. */
  userId: id.optional(),
  dependencies: z.record(z.string(), jsonValue).optional(),
  metadata: z.record(z.string(), jsonValue).optional(),
  /** For a factory. */
  factoryInput: z.record(z.string(), jsonValue).optional(),
});

export type ChatBody = z.output<typeof chatBody>;
