import { z } from 'zod';

import { identifier } from '../../platform/http/request/fields.js';

const most = { messages: 10_000, tools: 128, context: 1_000, resume: 1_000 } as const;

const json = z.json();
const part = z.looseObject({ type: z.string() });
/** Clients write an optional field as null, too. */
const text = z.string().nullish();

const message = z.looseObject({
  id: text,
  role: z.string(),
  content: z.union([z.string(), z.array(part), z.looseObject({})]).nullish(),
  toolCallId: text,
  error: text,
});

/** The body of a request: `RunAgentInput`. All official clients send `tools`, `context` and `forwardedProps`, empty or not. */
export const runInput = z.looseObject({
  threadId: identifier().meta({ description: 'The conversation: the id of the session.' }),
  runId: identifier().meta({ description: 'The id of the new run.' }),
  protocolVersion: text,
  parentRunId: text,
  state: json.optional(),
  messages: z.array(message).max(most.messages),
  tools: z
    .array(z.looseObject({ name: z.string(), description: text, parameters: json.optional() }))
    .max(most.tools),
  context: z.array(z.looseObject({ description: z.string(), value: z.string() })).max(most.context),
  forwardedProps: json,
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string(),
        status: z.enum(['resolved', 'cancelled']),
        payload: json.optional(),
      }),
    )
    .max(most.resume)
    .nullish(),
});

export type RunInput = z.output<typeof runInput>;
export type InputMessage = RunInput['messages'][number];
export type ResumeEntry = NonNullable<RunInput['resume']>[number];

/** Since 1.0 a client says which version it speaks. */
export function isModern({ protocolVersion }: Pick<RunInput, 'protocolVersion'>): boolean {
  return typeof protocolVersion === 'string';
}

/** The last message of the user. */
export function lastUserMessage({ messages }: RunInput): InputMessage | undefined {
  return messages.findLast(({ role }) => role === 'user');
}

/** The tool messages at the end: results that the client sends. */
export function trailingToolMessages({ messages }: RunInput): readonly InputMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(last + 1);
}
