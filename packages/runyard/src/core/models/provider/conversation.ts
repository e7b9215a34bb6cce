import type { Message, ToolCall } from '../message.js';

/**
 * The messages with every tool call followed by exactly its answer, as all providers demand. A run that was
 * cancelled between the two, or a history that was cut between them, must not make the session unusable.
 */
export function withPairedToolCalls(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ role, toolCalls }) => role === 'tool' || toolCalls?.length)) return messages;
  const paired: Message[] = [];
  for (let at = 0; at < messages.length; ) {
    const message = messages[at] as Message;
    at += 1;
    if (message.role === 'tool') continue;
    paired.push(message);
    if (!message.toolCalls?.length) continue;
    const answers = new Map<string | undefined, Message>();
    for (; messages[at]?.role === 'tool'; at += 1) {
      const answer = messages[at] as Message;
      answers.set(answer.toolCallId, answer);
    }
    for (const call of message.toolCalls) paired.push(answers.get(call.id) ?? missingAnswer(message, call));
  }
  return paired;
}

function missingAnswer(message: Message, call: ToolCall): Message {
  return {
    id: `${message.id}:${call.id}`,
    role: 'tool',
    content: 'This call was not carried out.',
    createdAt: message.createdAt,
    toolCallId: call.id,
    toolName: call.name,
    toolCallError: true,
  };
}

/**
 * The system messages, wherever they stand, as one text; and the rest, begun by the user: providers that keep
 * the system text apart refuse a conversation that an assistant's introduction begins.
 */
export function withoutSystem(messages: readonly Message[]): {
  readonly system: string;
  readonly rest: readonly Message[];
} {
  const system = messages.filter(({ role, content }) => role === 'system' && content.trim() !== '');
  const rest = messages.filter(({ role }) => role !== 'system');
  return {
    system: system.map(({ content }) => content).join('\n\n'),
    rest: rest[0]?.role === 'assistant' ? [opening(rest[0]), ...rest] : rest,
  };
}

function opening({ id, createdAt }: Message): Message {
  return { id: `${id}:opening`, role: 'user', content: '(The conversation begins.)', createdAt };
}
