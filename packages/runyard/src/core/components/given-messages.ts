import { errors } from '../errors/errors.js';
import type { Kind } from '../options/kind.js';
import { listOf, objectOf, required, text, word } from '../options/kinds.js';
import { isRemote } from '../remote/remote-component.js';
import type { CallerMessage, CallerToolCall } from '../runs/caller-input.js';
import { checkConversation, type Place } from '../runs/check-conversation.js';
import type { RunOptions } from '../runs/run.js';

type MessageOf<Role extends CallerMessage['role']> = Extract<CallerMessage, { readonly role: Role }>;

const toolCall = objectOf<CallerToolCall>({
  id: required(text),
  name: required(text),
  arguments: required(text),
});

const messageKinds: Readonly<Record<string, Kind>> = {
  user: objectOf<MessageOf<'user'>>({ role: required(text), content: required(text) }),
  assistant: objectOf<MessageOf<'assistant'>>({
    role: required(text),
    content: required(text),
    toolCalls: listOf(toolCall),
  }),
  tool: objectOf<MessageOf<'tool'>>({
    role: required(text),
    content: required(text),
    toolCallId: required(text),
  }),
};

const withRole = objectOf<{ readonly role: string }>({
  role: required(word('user', 'assistant', 'tool')),
});

/** A conversation that code brings along. Each role has fields of its own. */
export const givenMessages = listOf({
  ...withRole,
  inside: (message: { readonly role: string }, path, faults) => {
    const kind = Object.hasOwn(messageKinds, message.role) ? messageKinds[message.role] : undefined;
    if (kind === undefined) withRole.inside?.({ role: message.role }, path, faults);
    else kind.inside?.(message, path, faults);
  },
});

/** The messages of a call in code as an option of the run; what was checked before is their form. */
export function withMessages(
  method: string,
  component: object,
  messages: readonly CallerMessage[] | undefined,
): Pick<RunOptions, 'callerInput'> {
  if (messages === undefined) return {};
  if (isRemote(component))
    throw errors.invalidConfig(
      `${method}: a component of another service takes one message, and no messages.`,
    );
  const refused = (place: Place, message: string) =>
    errors.invalidConfig(`${method}: ${inCode(place)}: ${message}.`);
  checkConversation({ messages }, refused);
  return { callerInput: { conversation: { messages } } };
}

function inCode([name, ...positions]: Place): string {
  return `${name}${positions.map((position) => `[${position}]`).join('')}`;
}
