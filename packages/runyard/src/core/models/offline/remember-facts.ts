import { newCallId } from '../../ids.js';
import type { JsonObject } from '../../json.js';
import type { ToolCall } from '../message.js';
import type { ModelRequest } from '../model.js';
import { sentences } from './words.js';

const longestMessage = 4_000;
const mostFacts = 5;

/** What people say about themselves. */
const personal =
  /\b(?:my [\p{L} ]{1,40} (?:is|are)|call me|I(?: am|['’]m|['’]ve| have| like| love| prefer| enjoy| hate| dislike| live| work| speak| own| study| need| come from| was born))\b/iu;

/** “Remember that …” */
const reminder = /^(?:please )?(?:remember|keep in mind|note|don['’]t forget)(?: that| this)?:?\s+(.+)$/is;

/**
 * What the message says about the user, as calls of the tools with which memories are kept. Undefined when the request
 * is not about that: a model that keeps memories has no other tools, one with tools of its own is asked in words.
 */
export function rememberFacts(question: string, request: ModelRequest): ToolCall[] | undefined {
  const names = new Set(request.tools.map(({ name }) => name));
  if (names.has('add_memory') && names.has('update_memory')) {
    const { known, message } = partsOf(request.messages.at(-1)?.content ?? '');
    return factsIn(message)
      .filter((fact) => !known.includes(fact))
      .map((memory) => toolCall('add_memory', { memory, topics: [] }));
  }
  const fact = names.has('update_user_memory') ? reminder.exec(question)?.[1]?.trim() : undefined;
  return fact === undefined
    ? undefined
    : [toolCall('update_user_memory', { operation: 'add', memory: capitalised(fact) })];
}

/** What is remembered already, and what the user said. */
function partsOf(content: string): { known: string; message: string } {
  const [known = '', rest = ''] = content.split('\n<message>\n', 2);
  return { known, message: rest.replace(/\n<\/message>\s*$/, '').slice(0, longestMessage) };
}

function factsIn(message: string): string[] {
  const facts = sentences(message)
    .filter((sentence) => !sentence.endsWith('?'))
    .flatMap((sentence) => reminder.exec(sentence)?.[1] ?? (personal.test(sentence) ? sentence : []));
  return [...new Set(facts.map(capitalised))].slice(0, mostFacts);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function toolCall(name: string, args: JsonObject): ToolCall {
  return { id: newCallId(), name, arguments: JSON.stringify(args) };
}
