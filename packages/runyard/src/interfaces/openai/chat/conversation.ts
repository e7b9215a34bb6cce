import { errors } from '../../../core/errors/errors.js';
import type { CallerMessage } from '../../../core/runs/caller-input.js';
import { callOf } from './call-ids.js';
import { addMedia, type MediaFields, textOf } from './content-parts.js';
import type { ChatMessage } from './request-body.js';

/** The result of a call, as the client sends it. */
export interface CallResult {
  /** As the client knows the call. */
  readonly id: string;
  readonly result: string;
}

/** What the messages of a request say that starts a run. */
export interface Said {
  /** The last one, which the run answers. */
  readonly message: string;
  readonly media: MediaFields;
  readonly instructions: string | undefined;
  readonly earlier: readonly CallerMessage[];
  /** Where the earlier ones are in the request. */
  readonly positions: readonly number[];
}

export function readMessages(messages: readonly ChatMessage[]): Said {
  const last = messages.at(-1);
  if (last?.role !== 'user')
    throw errors.openaiRequest(
      'The last message must be one of the user, or the result of a tool call.',
      `messages[${messages.length - 1}].role`,
    );
  const media: MediaFields = {};
  const instructions: string[] = [];
  const earlier: CallerMessage[] = [];
  const positions: number[] = [];
  for (const [position, message] of messages.entries()) {
    if (message.role === 'system' || message.role === 'developer') instructions.push(textOf(message.content));
    // what a model can see of earlier messages, it sees with this one
    if (message.role === 'user') addMedia(media, message.content, `messages[${position}].content`);
    const kept = message === last ? [] : earlierMessage(message);
    earlier.push(...kept);
    positions.push(...kept.map(() => position));
  }
  return {
    message: textOf(last.content),
    media,
    instructions: instructions.length > 0 ? instructions.join('\n\n') : undefined,
    earlier,
    positions,
  };
}

/** The results of calls that are the last messages. */
export function trailingResults(messages: readonly ChatMessage[]): CallResult[] {
  const from = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  return messages
    .slice(from)
    .flatMap((message) =>
      message.role === 'tool' ? [{ id: message.tool_call_id, result: textOf(message.content) }] : [],
    );
}

function earlierMessage(message: ChatMessage): CallerMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: textOf(message.content) }];
    case 'assistant': {
      const { content, refusal, tool_calls: calls } = message;
      const toolCalls = (calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
        id: ownCallId(id),
        name,
        arguments: given,
      }));
      return [
        {
          role: 'assistant',
          content: textOf(content) || refusal || '',
          ...(toolCalls.length > 0 && { toolCalls }),
        },
      ];
    }
    case 'tool':
      return [
        { role: 'tool', content: textOf(message.content), toolCallId: ownCallId(message.tool_call_id) },
      ];
    default:
      return [];
  }
}

/** As the model knows it: providers bound the length of these ids. */
function ownCallId(id: string): string {
  return callOf(id)?.callId ?? id;
}
