import { ownSteps } from '../../runs/journal/child-steps.js';
import { read, readIf } from '../../runs/journal/codec.js';
import { type ContinueRecord, continueRecord } from '../../runs/journal/records.js';
import type { StepRecord } from '../../runs/run.js';
import { type AnswerRecord, answerRecord, type HookRecord, hookRecord } from '../journal-records.js';

/** The steps of a run that are its conversation, in the order of the conversation. */
export interface Conversation {
  readonly context: StepRecord | undefined;
  readonly turns: readonly Turn[];
}

/** One model call, with the messages of the user right before it and the calls that the model asked for. */
export interface Turn {
  readonly number: number;
  /** `continue` steps with a message of the user. */
  readonly userMessages: readonly StepRecord[];
  readonly model: StepRecord | undefined;
  /** By the position of the call: they may have begun in another order, and run after run. */
  readonly tools: readonly StepRecord[];
}

interface GrowingTurn extends Turn {
  readonly userMessages: StepRecord[];
  model: StepRecord | undefined;
  readonly tools: StepRecord[];
}

export function conversationOf(all: readonly StepRecord[]): Conversation {
  const steps = ownSteps(all);
  const turns = new Map<number, GrowingTurn>();
  const turn = (number: number) => {
    let known = turns.get(number);
    if (known === undefined) {
      known = { number, userMessages: [], model: undefined, tools: [] };
      turns.set(number, known);
    }
    return known;
  };
  let context: StepRecord | undefined;
  for (const step of steps) {
    if (step.kind === 'context') context = step;
    else if (step.kind === 'model') turn(turnOf(step)).model = step;
    else if (step.kind === 'tool') turn(turnOf(step)).tools.push(step);
    else if (step.kind === 'continue' && hasUserMessage(step, steps))
      turn(continueRecordOf(step).turn).userMessages.push(step);
  }
  for (const { userMessages, tools } of turns.values()) {
    userMessages.sort((left, right) => left.seq - right.seq);
    tools.sort((left, right) => positionOf(left) - positionOf(right));
  }
  return { context, turns: [...turns.values()].sort((left, right) => left.number - right.number) };
}

/**
 * What the conversation keeps instead of the model's last text; undefined when it keeps that text. Of a text that a
 * post-hook has not passed, nothing is kept.
 */
export function keptAnswerOf(all: readonly StepRecord[]): AnswerRecord | undefined {
  const steps = ownSteps(all);
  if (isUnpassed(steps)) return { text: null };
  const step = steps.find(({ kind, status }) => kind === 'answer' && status === 'completed');
  return step && read(step, answerRecord);
}

/** Whether a post-hook has not come to its end: it crashed, or the run ended before. */
export function isUnpassed(steps: readonly StepRecord[]): boolean {
  return steps.some(({ key, status }) => key.startsWith('post-hook:') && status !== 'completed');
}

/** The turn of a step `model:<turn>` or `tool:<turn>:<position>`. */
export function turnOf({ key }: Pick<StepRecord, 'key'>): number {
  return Number(key.split(':')[1]);
}

function positionOf({ key }: StepRecord): number {
  return Number(key.split(':')[2]);
}

const nothingYet: ContinueRecord = { turn: -1, input: null, options: {} };

export function continueRecordOf(step: StepRecord): ContinueRecord {
  return readIf(step, continueRecord) ?? nothingYet;
}

/** The name of a step that reminds the model of something: no message of the user. */
export const reminder = 'reminder';

export function isUserMessage({ name }: StepRecord): boolean {
  return name !== reminder;
}

/** What the keys of the steps begin with that process the message of a `continue` step. */
export function userMessageKey({ key }: StepRecord): string {
  return key.replace('continue:', 'said:');
}

/** The message of the user as the model receives it: the pre-hooks of the agent may have changed it. */
export function userMessageText(step: StepRecord, steps: readonly StepRecord[]): string {
  let text = continueRecordOf(step).input ?? '';
  for (const record of hookRecords(step, steps)) {
    if (record.outcome === 'changed')
      text = typeof record.content === 'string' ? record.content : JSON.stringify(record.content);
  }
  return text;
}

/** What a pre-hook refused is no message. */
function hasUserMessage(step: StepRecord, steps: readonly StepRecord[]): boolean {
  if (continueRecordOf(step).input === null) return false;
  return hookRecords(step, steps).every(({ outcome }) => outcome !== 'refused');
}

function hookRecords(step: StepRecord, steps: readonly StepRecord[]): HookRecord[] {
  const prefix = `${userMessageKey(step)}:pre-hook:`;
  return steps
    .filter(({ kind, key, status }) => kind === 'hook' && status === 'completed' && key.startsWith(prefix))
    .sort((left, right) => left.seq - right.seq)
    .map((hook) => read(hook, hookRecord));
}
