import type { JsonObject } from '../../../core/json.js';
import type { Question } from '../../common/answers/question.js';
import { escaped } from '../escaped.js';
import { inputsOf } from './inputs.js';
import { buttons, buttonValue } from './read-press.js';

/** What was decided on a question so far. */
export interface Decision {
  readonly confirmed: boolean;
  readonly by: string;
}

export interface Asked {
  readonly runId: string;
  readonly decisions: Readonly<Record<string, Decision>>;
  /** The state of approvals that were looked at. */
  readonly looked?: ReadonlySet<string> | undefined;
}

/** Slack has 50 blocks in a message, of which one is the button that submits. */
const mostBlocks = 49;
const longestText = 2_900;
/** A person agrees to what they see: what does not fit is not asked here. */
const mostSections = 6;
const longestTitle = 150;

/** The questions of a run, divided into messages. What does not fit into a message of its own is in none. */
export function pagesOf(questions: readonly Question[], runId: string): Question[][] {
  const pages: Question[][] = [];
  let room = 0;
  for (const question of questions) {
    const needs = questionBlocks(question, { runId, decisions: {} }).length + 1;
    if (isTooLong(question) || needs > mostBlocks) continue;
    if (needs > room) {
      pages.push([]);
      room = mostBlocks;
    }
    pages.at(-1)?.push(question);
    room -= needs;
  }
  return pages;
}

function isTooLong({ message }: Question): boolean {
  return message.length > longestText * mostSections;
}

/** The blocks of a message that asks. */
export function pageBlocks(questions: readonly Question[], asked: Asked): JsonObject[] {
  const blocks = questions.flatMap((question) => questionBlocks(question, asked));
  const needsSubmit = questions.some((question) => isSubmitted(question, asked.decisions[question.id]));
  if (!needsSubmit) return blocks;
  const submit = button(buttons.submit, 'Submit', buttonValue(asked.runId), 'primary');
  return [...blocks, { type: 'actions', block_id: `pause:${asked.runId}`.slice(0, 255), elements: [submit] }];
}

/** Whether an answer comes with the button that submits: what is filled in, and the reason of a refusal. */
export function isSubmitted({ asked, needsApproval }: Question, decision: Decision | undefined): boolean {
  if (needsApproval) return false;
  return isDecided(asked.kind) ? asked.kind === 'confirmation' && decision?.confirmed === false : true;
}

/** Whether buttons answer it. */
export function isDecided(kind: Question['asked']['kind']): boolean {
  return kind === 'confirmation' || kind === 'decision';
}

function questionBlocks(question: Question, asked: Asked): JsonObject[] {
  const { id, message, needsApproval } = question;
  const decision = asked.decisions[id];
  const isShort = message.length <= longestTitle && escaped(message).length <= longestTitle;
  const words = isShort ? [] : sections(message);
  if (needsApproval) {
    const state = asked.looked?.has(id) ? 'Still pending approval' : 'An administrator decides';
    return [
      ...words,
      card(question, isShort, 'admin_approval', state, [
        button(buttons.check, 'Check status', buttonValue(asked.runId, id)),
      ]),
    ];
  }
  if (!isDecided(question.asked.kind)) return [...sections(message), ...inputsOf(question)];
  if (decision !== undefined) {
    const state = `${decisionWord(question, decision.confirmed)} by <@${decision.by}>`;
    const done = card(question, isShort, 'decided', state, []);
    return [...words, done, ...(isSubmitted(question, decision) ? [reasonInput(question)] : [])];
  }
  const isFailure = question.asked.kind === 'decision';
  return [
    ...words,
    card(question, isShort, 'confirmation', undefined, [
      button(buttons.approve, isFailure ? 'Retry' : 'Approve', buttonValue(asked.runId, id), 'primary'),
      button(buttons.reject, isFailure ? 'Skip' : 'Deny', buttonValue(asked.runId, id), 'danger'),
    ]),
  ];
}

export function decisionWord({ asked: { kind } }: Question, confirmed: boolean): string {
  if (kind === 'decision') return confirmed ? '🔁 Retried' : '⏭️ Skipped';
  return confirmed ? '✅ Approved' : '🚫 Denied';
}

function card(
  { id, message }: Question,
  isShort: boolean,
  kind: string,
  state: string | undefined,
  actions: JsonObject[],
): JsonObject {
  return {
    type: 'card',
    block_id: `rowact:${id}:${kind}`.slice(0, 255),
    title: mrkdwn(isShort ? escaped(message) : 'Do you agree?'),
    ...(state !== undefined && { body: mrkdwn(state) }),
    ...(actions.length > 0 && { actions }),
  };
}

export function reasonBlockId({ id }: Question): string {
  return `row:${id}:reason`.slice(0, 255);
}

function reasonInput(question: Question): JsonObject {
  return {
    type: 'input',
    block_id: reasonBlockId(question),
    optional: true,
    label: { type: 'plain_text', text: 'Reason (optional)' },
    element: { type: 'plain_text_input', action_id: 'reason', multiline: true, max_length: 3_000 },
  };
}

/** A text in as many sections as it takes. */
export function sections(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  let rest = escaped(text);
  while (rest !== '') {
    // an entity is not divided
    const piece = rest.slice(0, longestText).replace(rest.length > longestText ? /&[a-z]{0,3}$/ : /$^/, '');
    found.push({ type: 'section', text: mrkdwn(piece) });
    rest = rest.slice(piece.length);
  }
  return found;
}

function mrkdwn(text: string): JsonObject {
  return { type: 'mrkdwn', text };
}

function button(action: string, text: string, value: string, style?: 'primary' | 'danger'): JsonObject {
  return {
    type: 'button',
    action_id: action,
    text: { type: 'plain_text', text },
    value,
    ...(style && { style }),
  };
}
