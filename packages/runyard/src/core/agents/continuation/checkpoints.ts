import { errors } from '../../errors.js';
import type { Message } from '../../models/message.js';
import type { Run, RunStatus, StepRecord } from '../../runs/run.js';
import { messagesOf, producedMedia } from '../transcript.js';
import { continuationOf } from './continuation.js';
import { conversationOf } from './conversation.js';

/** A place in a run that it can go on from. */
export interface Checkpoint {
  /** How many messages there are up to it. */
  readonly index: number;
  readonly continueFrom: number;
  readonly status: RunStatus;
  readonly reason: 'checkpoint' | 'end';
  /** Milliseconds. */
  readonly createdAt: number;
  readonly messageId: string;
  readonly messageRole: Message['role'];
  /** The beginning of the message, in one line. */
  readonly preview: string;
  readonly isLatest: boolean;
}

/** A run as it was after some of its messages. */
export interface Snapshot {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  readonly messageIndex: number;
}

const previewLength = 120;

/** One after each turn whose tool calls are all answered, and one at the end. */
export function checkpointsOf(run: Run, steps: readonly StepRecord[]): readonly Checkpoint[] {
  const messages = messagesOf(run, steps);
  const end = messages.length;
  const batches = batchesOf(messages, steps).filter(({ index }) => index < end);
  const checkpoints = batches.map(({ index, endedAt }) =>
    checkpoint(messages, index, { status: 'running', reason: 'checkpoint', createdAt: endedAt }),
  );
  if (end > 0) {
    const { status, updatedAt } = run;
    checkpoints.push(checkpoint(messages, end, { status, reason: 'end', createdAt: updatedAt }));
  }
  return checkpoints.map((entry, position) => ({ ...entry, isLatest: position === checkpoints.length - 1 }));
}

/** How many messages there were after the last turn whose tool calls are all answered. */
export function lastCheckpointIndex(run: Run, steps: readonly StepRecord[]): number | undefined {
  return batchesOf(messagesOf(run, steps), steps).at(-1)?.index;
}

/** The run cut to so many messages, or a few less: no tool call is left without its result. */
export function snapshotAt(
  run: Run,
  steps: readonly StepRecord[],
  index: number,
  continuation: typeof continuationOf = continuationOf,
): Snapshot {
  const messages = messagesOf(run, steps);
  if (!Number.isInteger(index) || index < 0 || index > messages.length)
    throw errors.noSuchMessage('message_index', messages.length);
  const kept = continuation(run, steps, index);
  const { messageIndex } = kept;
  if (messageIndex === messages.length) return { run, steps, messageIndex };
  return { run: cutRun(run, kept.steps), steps: kept.steps, messageIndex };
}

function cutRun(run: Run, steps: readonly StepRecord[]): Run {
  if (run.result === null) return run;
  const { metrics, metadata, sessionState } = run.result;
  const said = messagesOf(run, steps).findLast(({ role }) => role === 'assistant');
  const media = producedMedia(steps);
  return {
    ...run,
    result: {
      content: said?.content ?? '',
      contentType: 'str',
      ...(media.length > 0 && { media }),
      ...(metrics !== undefined && { metrics }),
      ...(metadata !== undefined && { metadata }),
      ...(sessionState !== undefined && { sessionState }),
    },
  };
}

/** Where each batch of tool calls ended. */
function batchesOf(messages: readonly Message[], steps: readonly StepRecord[]) {
  const places = new Map(messages.map(({ id }, position) => [id, position + 1]));
  return conversationOf(steps).turns.flatMap(({ model, tools }) => {
    const last = tools.at(-1);
    const calls = (model?.output as { toolCalls?: readonly unknown[] } | null)?.toolCalls ?? [];
    const done = tools.length === calls.length && tools.every(({ status }) => status === 'completed');
    if (last === undefined || !done) return [];
    const endedAt = Math.max(...tools.map((tool) => tool.endedAt ?? tool.startedAt));
    return [{ index: places.get(`${last.runId}:${last.key}`)!, endedAt }];
  });
}

function checkpoint(
  messages: readonly Message[],
  index: number,
  facts: Pick<Checkpoint, 'status' | 'reason' | 'createdAt'>,
) {
  const { id, role, content } = messages[index - 1]!;
  return {
    index,
    continueFrom: index,
    ...facts,
    messageId: id,
    messageRole: role,
    preview: oneLine(content),
  };
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * previewLength)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= previewLength ? line : `${characters.slice(0, previewLength - 1).join('')}…`;
}
