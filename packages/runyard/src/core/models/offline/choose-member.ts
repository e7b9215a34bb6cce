import { newCallId } from '../../ids.js';
import type { ToolCall } from '../message.js';
import type { ToolChoice, ToolDefinition } from '../model.js';
import { keywords, overlap, sentences } from './words.js';

/** The tools with which the leader of a team hands work to its members. */
const toOne = 'delegate_task_to_member';
const toAll = 'delegate_task_to_members';

const mostMembers = 3;

interface Member {
  readonly id: string;
  /** The words of its name, its role, its description and its tools. */
  readonly about: ReadonlySet<string>;
}

/**
 * The members of a team who fit what the message asks, as far as plain rules show: each sentence goes to the member
 * whose description shares most words with it. Nothing when no member shares any, or there is no team.
 */
export function chooseMembers(
  message: string,
  system: string,
  tools: readonly ToolDefinition[],
  choice: ToolChoice = 'auto',
): ToolCall[] {
  if (choice === 'none' || typeof choice === 'object' || message.trim() === '') return [];
  if (tools.some(({ name }) => name === toAll)) return [toolCall(toAll, { task: message })];
  if (!tools.some(({ name }) => name === toOne)) return [];
  const members = membersIn(system);
  const isForOne = /\bthe one member\b/.test(system);
  const tasks = new Map<string, string[]>();
  for (const part of isForOne ? [message] : sentences(message)) {
    const member = bestFor(part, members);
    if (member !== undefined) tasks.set(member.id, [...(tasks.get(member.id) ?? []), part]);
  }
  return [...tasks]
    .slice(0, mostMembers)
    .map(([id, parts]) => toolCall(toOne, { member_id: id, task: parts.join(' ') }));
}

/** The first of those who share most words with the text. */
function bestFor(text: string, members: readonly Member[]): Member | undefined {
  const asked = keywords(text);
  let best: Member | undefined;
  let most = 0;
  for (const member of members) {
    const shared = overlap(asked, member.about);
    if (shared > most) [best, most] = [member, shared];
  }
  return best;
}

/** The list that a leader is given: a line `- id` for each member, and what there is to say below it. */
function membersIn(system: string): Member[] {
  const [, rest = ''] = system.split('The members of your team:\n', 2);
  const [list = ''] = rest.split('\n\n', 1);
  return list.split(/^(?=- [\w.~-]+(?: \(|, a team|$))/m).map((text) => ({
    id: /^- ([\w.~-]+)/.exec(text)?.[1] ?? '',
    about: keywords(text.replace(/^ *(?:role|description|tools|its members):/gm, '')),
  }));
}

function toolCall(name: string, args: Record<string, string>): ToolCall {
  return { id: newCallId(), name, arguments: JSON.stringify(args) };
}
