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

/** The system messages, wherever they stand, as one text; and the rest. */
export function withoutSystem(messages: readonly Message[]): {
  readonly system: string;
  readonly rest: readonly Message[];
} {
  const system = messages.filter(({ role, content }) => role === 'system' && content.trim() !== '');
  if (system.length === 0 && messages.every(({ role }) => role !== 'system')) {
    return { system: '', rest: messages };
  }
  return {
    system: system.map(({ content }) => content).join('\n\n'),
    rest: messages.filter(({ role }) => role !== 'system'),
  };
}
