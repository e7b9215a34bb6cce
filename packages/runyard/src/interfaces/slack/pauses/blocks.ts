import type { JsonObject } from '../../../core/json.js';
import type { Question, Subject } from '../../common/answers/question.js';
import { escaped } from '../escaped.js';
import { inputsOf } from './inputs.js';
import { buttons, buttonValue, checkValue } from './read-press.js';

/** What was decided on a question so far. */
export interface Decision {
  readonly confirmed: boolean;
  readonly by: string;
}

export interface Asked {
  readonly runId: string;
  /** The message that says what the run waits for. */
  readonly waitingTs: string;
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
const longestBody = 200;

/** The questions of a run, divided into messages. What does not fit into a message of its own is in none. */
export function pagesOf(questions: readonly Question[]): Question[][] {
  const pages: Question[][] = [];
  let room = 0;
  for (const question of questions) {
    const needs = questionBlocks(question, { runId: '', waitingTs: '', decisions: {} }).length + 1;
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

function isTooLong({ about }: Question): boolean {
  return about.said.length + argumentsOf(about).length > longestText * mostSections;
}

/** What a tool is called with, as people read it; empty for nothing. */
function argumentsOf({ args }: Subject): string {
  return Object.keys(args).length === 0 ? '' : JSON.stringify(args);
}

/** A call with its arguments, or a step. */
export function callText(about: Subject): string {
  const args = argumentsOf(about);
  return args === '' ? about.name : `${about.name}(${args})`;
}

/** The blocks of a message that asks. */
export function pageBlocks(questions: readonly Question[], asked: Asked): JsonObject[] {
  const blocks = questions.flatMap((question) => questionBlocks(question, asked));
  const needsSubmit = questions.some((question) =>
    isSubmitted(question, asked.decisions[question.about.requirementId]),
  );
  if (!needsSubmit) return blocks;
  const { runId, waitingTs } = asked;
  const submit = button(buttons.submit, 'Submit', buttonValue({ runId, waitingTs }), 'primary');
  return [...blocks, { type: 'actions', block_id: `pause:${runId}`.slice(0, 255), elements: [submit] }];
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

function questionBlocks(question: Question, { runId, waitingTs, decisions, looked }: Asked): JsonObject[] {
  const { about, asked, needsApproval } = question;
  const { requirementId, approvalId = '' } = about;
  const decision = decisions[requirementId];
  const value = { requirementId, runId, waitingTs };
  const args = escaped(argumentsOf(about));
  // all of it is shown: what a card has no room for stands before it
  const words = [...sections(about.said), ...(args.length > longestBody ? sections(argumentsOf(about)) : [])];
  if (needsApproval) {
    const state = looked?.has(requirementId) ? 'Still pending approval' : 'An administrator decides';
    const check = button(buttons.check, 'Check status', checkValue(approvalId, value));
    return [...words, card(about, 'admin_approval', state, [check])];
  }
  if (!isDecided(asked.kind)) return [...sections(question.message), ...inputsOf(question)];
  if (decision !== undefined) {
    const state = `${decisionWord(question, decision.confirmed)} by <@${decision.by}>`;
    const done = card(about, 'decided', state, []);
    return [...words, done, ...(isSubmitted(question, decision) ? [reasonInput(question)] : [])];
  }
  const isFailure = asked.kind === 'decision';
  return [
    ...words,
    card(about, 'confirmation', undefined, [
      button(buttons.approve, isFailure ? 'Retry' : 'Approve', buttonValue(value), 'primary'),
      button(buttons.reject, isFailure ? 'Skip' : 'Deny', buttonValue(value), 'danger'),
    ]),
  ];
}

export function decisionWord({ asked: { kind } }: Question, confirmed: boolean): string {
  if (kind === 'decision') return confirmed ? '🔁 Retried' : '⏭️ Skipped';
  return confirmed ? '✅ Approved' : '🚫 Denied';
}

function card(about: Subject, kind: string, state: string | undefined, actions: JsonObject[]): JsonObject {
  const args = escaped(argumentsOf(about));
  return {
    type: 'card',
    block_id: `rowact:${about.requirementId.slice(0, 200)}:${kind}`,
    title: mrkdwn(cut(escaped(about.name), longestTitle) || '?'),
    ...(state !== undefined && { subtitle: mrkdwn(state) }),
    ...(args !== '' && { body: mrkdwn(cut(args, longestBody)) }),
    ...(actions.length > 0 && { actions }),
  };
}

/** The beginning of a text that was escaped. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/&[a-z]{0,3}$/, '')}…`;
}

export function reasonBlockId({ about }: Question): string {
  return `row:${about.requirementId.slice(0, 200)}:reason`;
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
