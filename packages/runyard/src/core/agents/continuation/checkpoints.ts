import type { Message } from '../../models/message.js';
import type { Run, RunStatus, StepRecord } from '../../runs/run.js';
import { messagesOf } from '../transcript.js';

/** A place in the conversation of a run from which it can continue. */
export interface Checkpoint {
  /** Its place among the run's checkpoints, from 1; null for a place that is not listed. */
  readonly position: number | null;
  /** How many messages stand before it. */
  readonly messageIndex: number;
  /** What the run was at that point. */
  readonly status: RunStatus;
  readonly reason: 'checkpoint' | 'end' | 'snapshot';
  /** The message right before it. */
  readonly message: Message | undefined;
  readonly latest: boolean;
}

/** After each round of tool calls, and at the end: there every call has its result. */
export function checkpointsOf(run: Run, steps: readonly StepRecord[]): Checkpoint[] {
  const messages = messagesOf(run, steps);
  const indices = batchEnds(messages);
  const end = wholeUntil(messages, messages.length);
  const between = indices.filter((index) => index < end);
  const places = end === 0 ? between : [...between, end];
  return places.map((messageIndex, position) => ({
    position: position + 1,
    messageIndex,
    status: messageIndex === end ? run.status : 'running',
    reason: messageIndex === end ? 'end' : 'checkpoint',
    message: messages[messageIndex - 1],
    latest: position === places.length - 1,
  }));
}

/** Where the last round of tool calls ended; undefined while there was none. */
export function lastCheckpointOf(messages: readonly Message[]): number | undefined {
  return batchEnds(messages).at(-1);
}

/** A place that leaves no call without its result. */
export function checkpointAt(run: Run, steps: readonly StepRecord[], messageIndex: number): Checkpoint {
  const listed = checkpointsOf(run, steps).find((checkpoint) => checkpoint.messageIndex === messageIndex);
  return {
    position: listed?.position ?? null,
    messageIndex,
    status: listed?.status ?? 'running',
    reason: 'snapshot',
    message: messagesOf(run, steps)[messageIndex - 1],
    latest: listed?.latest ?? false,
  };
}

/** Indices right behind the last result of a round of calls. */
function batchEnds(messages: readonly Message[]): number[] {
  return messages.flatMap(({ role, fromHistory }, position) => {
    const index = position + 1;
    const lastOfBatch = role === 'tool' && fromHistory !== true && messages[index]?.role !== 'tool';
    return lastOfBatch && wholeUntil(messages, index) === index ? [index] : [];
  });
}

/** The longest beginning of so many messages at the most in which every call has its result. */
function wholeUntil(messages: readonly Message[], count: number): number {
  const asking = messages.slice(0, count).findLastIndex(({ role }) => role === 'assistant');
  const calls = messages[asking]?.toolCalls ?? [];
  const answered = new Set(messages.slice(asking + 1, count).map(({ toolCallId }) => toolCallId));
  return calls.every(({ id }) => answered.has(id)) ? count : asking;
}
