import { ownSteps } from '../../runs/journal/child-steps.js';
import type { ContinueRecord } from '../../runs/resume/continuation.js';
import type { StepRecord } from '../../runs/run.js';
import type { AnswerRecord, HookRecord } from '../journal-records.js';

/** The steps of a run that are its conversation, in the order of the conversation. */
export interface Conversation {
  readonly context: StepRecord | undefined;
  readonly turns: readonly Turn[];
}

/** One model call, with what the user said right before it and the calls that the model asked for. */
export interface Turn {
  readonly number: number;
  /** `continue` steps that brought a word of the user. */
  readonly said: readonly StepRecord[];
  readonly model: StepRecord | undefined;
  /** By the position of the call: they may have begun in another order, and run after run. */
  readonly tools: readonly StepRecord[];
}

export function conversationOf(all: readonly StepRecord[]): Conversation {
  const steps = ownSteps(all);
  const turns = new Map<number, { said: StepRecord[]; model?: StepRecord; tools: StepRecord[] }>();
  const turn = (number: number) => {
    const known = turns.get(number) ?? { said: [], tools: [] };
    turns.set(number, known);
    return known;
  };
  let context: StepRecord | undefined;
  for (const step of steps) {
    if (step.kind === 'context') context = step;
    else if (step.kind === 'model') turn(turnOf(step)).model = step;
    else if (step.kind === 'tool') turn(turnOf(step)).tools.push(step);
    else if (step.kind === 'continue' && brings(step, steps)) turn(continueRecord(step).turn).said.push(step);
  }
  return {
    context,
    turns: [...turns]
      .sort(([left], [right]) => left - right)
      .map(([number, { said, model, tools }]) => ({
        number,
        said: said.sort((left, right) => left.seq - right.seq),
        model,
        tools: tools.sort((left, right) => positionOf(left) - positionOf(right)),
      })),
  };
}

/**
 * What the conversation keeps instead of the model's last text; undefined when it keeps that text. Of a text that a
 * post-hook has not passed, nothing is kept.
 */
export function lastWordOf(all: readonly StepRecord[]): AnswerRecord | undefined {
  const steps = ownSteps(all);
  if (isUnpassed(steps)) return { text: null };
  const step = steps.find(({ kind, status }) => kind === 'answer' && status === 'completed');
  return step?.output as AnswerRecord | undefined;
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

export function continueRecord({ output }: StepRecord): ContinueRecord {
  return (output as unknown as ContinueRecord | null) ?? nothingYet;
}

/** The name of a step that reminds the model of something: nobody said that. */
export const reminder = 'reminder';

export function isUsersWord({ name }: StepRecord): boolean {
  return name !== reminder;
}

/** What the keys of the steps begin with that deal with what the user said with a `continue` step. */
export function saidKey({ key }: StepRecord): string {
  return key.replace('continue:', 'said:');
}

/** What the model is told the user said: the pre-hooks of the agent may have made something else of it. */
export function saidText(step: StepRecord, steps: readonly StepRecord[]): string {
  let text = continueRecord(step).input ?? '';
  for (const record of hookRecords(step, steps)) {
    if (record.outcome === 'changed')
      text = typeof record.content === 'string' ? record.content : JSON.stringify(record.content);
  }
  return text;
}

/** Whether it brings a word of the user; what a pre-hook refused was never said. */
function brings(step: StepRecord, steps: readonly StepRecord[]): boolean {
  if (continueRecord(step).input === null) return false;
  return hookRecords(step, steps).every(({ outcome }) => outcome !== 'refused');
}

function hookRecords(step: StepRecord, steps: readonly StepRecord[]): HookRecord[] {
  const prefix = `${saidKey(step)}:pre-hook:`;
  return steps
    .filter(({ kind, key, status }) => kind === 'hook' && status === 'completed' && key.startsWith(prefix))
    .sort((left, right) => left.seq - right.seq)
    .map(({ output }) => output as HookRecord);
}
