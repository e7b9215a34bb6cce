import { read } from '../journal/codec.js';
import { type ContinueRecord, continueRecord } from '../journal/records.js';
import type { StepRecord } from '../run.js';

/**
 * Where in a conversation to continue: at its end, after the last message of the user, before the last answer, or after
 * so many messages.
 */
export type ContinueInConversation = 'end' | 'last_user' | 'last_answer' | number;

/** The same for a run of any kind; that of a workflow also starts again at a step. */
export type ContinueFrom = ContinueInConversation | { readonly step: string };

/** What of a run's journal is kept when the run, or a copy of it, continues. */
export interface Continuation {
  readonly steps: readonly StepRecord[];
  /** Those of the steps that had ended and have not from now on: what ran in them continues where it failed. */
  readonly reopened?: readonly StepRecord[];
  /** How many messages of the run that is. No tool call is kept without its result. */
  readonly messageIndex: number;
  /** The turn that comes next: a message that comes with the request stands before it. */
  readonly turn: number;
  /**
   * What was done of that turn when the run failed in the middle of it. The run itself continues with it, so that no
   * call is made twice and no answer is asked for twice; a copy does not, so that no answer is used twice.
   */
  readonly unfinished?: readonly StepRecord[];
  /**
   * The last answer, when what checks it has not come to its end. The run itself has it checked again; with a new
   * message of the user, and in a copy, it is void.
   */
  readonly unpassed?: readonly StepRecord[];
}

export function continueKey(attempt: number): string {
  return `continue:${attempt}`;
}

/** The last request to continue the run: a reminder of a component to its own model does not count. */
export function lastContinue(steps: readonly StepRecord[]): StepRecord | undefined {
  return steps.findLast(({ key, attempt }) => key === continueKey(attempt));
}

/** The key of a step in a copy of its run: requests to continue the copy use the same keys again. */
export function copiedKey(key: string): string {
  return key.replace(/^(continue|said):/, '$1:0:');
}

/** The continuations of a run so far, in order. */
export function continuationsOf(steps: readonly StepRecord[]): readonly ContinueRecord[] {
  return steps
    .filter(({ kind, output }) => kind === 'continue' && output !== null)
    .map((step) => read(step, continueRecord));
}
