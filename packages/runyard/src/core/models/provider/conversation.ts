import { idFrom } from '../../ids.js';
import type { Message, ToolCall } from '../message.js';
import { wireName } from './wire-name.js';

/** What ids of calls have to look like where chat completions are spoken; `model` is who serves it, and its name. */
export function callIdsOf(model: string, longest?: number): RegExp {
  // every server of Mistral models checks the ids as Mistral does
  if (/(mi|mini|code|dev|magi|pi|vo)[sx]tral/i.test(model)) return /^[a-zA-Z0-9]{9}$/;
  return longest === undefined ? anyId : new RegExp(`^.{1,${longest}}$`, 's');
}

const anyId = /^.+$/s;

/**
 * The messages with every tool call followed by exactly its answer, as all providers demand. A run that was
 * cancelled between the two, or a history that was cut between them, must not make the session unusable; nor must an
 * id or a name that another provider gave, or that comes twice.
 */
export function withPairedToolCalls(messages: readonly Message[], ids = anyId): readonly Message[] {
  if (!messages.some(({ role, toolCalls }) => role === 'tool' || toolCalls?.length)) return messages;
  const paired: Message[] = [];
  const used = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') continue;
    const { toolCalls: given = [] } = message;
    const toolCalls = given.map((call, place) => {
      const wired = acceptable(call, `${message.id} ${place}`, (id) => ids.test(id) && !used.has(id));
      used.add(wired.id);
      return wired;
    });
    const unchanged = toolCalls.every((call, place) => call === given[place]);
    paired.push(unchanged ? message : { ...message, toolCalls });
    if (given.length === 0) continue;
    const answers = new Map<string | undefined, Message>();
    for (let next = messages[at + 1], from = at + 2; next?.role === 'tool'; next = messages[from++])
      answers.set(next.toolCallId, next);
    for (const [place, call] of given.entries()) {
      const answer = answers.get(call.id) ?? missingAnswer(message, call);
      const { id, name } = toolCalls[place] ?? call;
      const same = id === answer.toolCallId && name === call.name;
      paired.push(same ? answer : { ...answer, toolCallId: id, toolName: name });
    }
  }
  return paired;
}

/** The call with an id and a name that the provider takes: the same ones for the same call in every request. */
function acceptable(call: ToolCall, place: string, fits: (id: string) => boolean): ToolCall {
  const name = wireName(call.name);
  const known = [call.id, wireName(call.id)].find(fits);
  if (call.client || (known === call.id && name === call.name)) return call;
  // as short as the strictest provider wants it
  return { ...call, id: known ?? idFrom(`${place} ${call.id}`).replaceAll('-', '').slice(0, 9), name };
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
