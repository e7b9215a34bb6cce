import type { CallerConversation, CallerMessage } from './caller-input.js';

const mostMessages = 2_000;
const longestConversation = 4 * 1024 * 1024;
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

export type Place = readonly (string | number)[];

/** The error for a part of what a caller gave, by its place in it. */
export type Refused = (place: Place, message: string) => Error;

/** Refuses a conversation that is too large, or that no model accepts. */
export function checkConversation(
  { instructions = '', messages = [] }: CallerConversation,
  refused: Refused,
): void {
  if (messages.length > mostMessages)
    throw refused(['messages'], `there are ${messages.length} messages, at most ${mostMessages}`);
  const length = messages.reduce((sum, message) => sum + lengthOf(message), instructions.length);
  if (length > longestConversation)
    throw refused(['messages'], `the messages have ${length} characters, at most ${longestConversation}`);
  checkCalls(messages, refused);
}

/** Providers refuse requests with other names. */
export function checkToolName(name: string, place: Place, refused: Refused): void {
  if (!toolName.test(name))
    throw refused(place, `the tool name '${name.slice(0, 80)}' must have 1 to 64 letters, digits, _ or -`);
}

function lengthOf(message: CallerMessage): number {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce((sum, call) => sum + call.arguments.length, message.content.length);
}

/** Models accept a result only after its call, and a call only with its result. */
function checkCalls(messages: readonly CallerMessage[], refused: Refused): void {
  let open = new Map<string, number>();
  for (const [position, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId))
        throw refused(
          ['messages', position],
          `the result of '${message.toolCallId.slice(0, 80)}' follows no call with that id`,
        );
      continue;
    }
    checkAnswered(open, refused);
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    for (const { name } of calls) checkToolName(name, ['messages', position], refused);
    open = new Map(calls.map(({ id }) => [id, position]));
  }
  checkAnswered(open, refused);
}

function checkAnswered(open: ReadonlyMap<string, number>, refused: Refused): void {
  for (const [id, position] of open)
    throw refused(['messages', position], `the call '${id.slice(0, 80)}' has no result after it`);
}
