import { errors } from '../../errors/errors.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { messagesOf, producedMedia } from '../transcript.js';
import { continuationOf } from './continuation.js';

/** A run as it was after some of its messages. */
export interface Snapshot {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  readonly messageIndex: number;
}

/** The run cut to so many messages, or a few less: no tool call is left without its result. */
export function snapshotAt(run: Run, steps: readonly StepRecord[], index: number): Snapshot {
  const messages = messagesOf(run, steps);
  if (!Number.isInteger(index) || index < 0 || index > messages.length)
    throw errors.noSuchMessage('message_index', messages.length);
  const kept = continuationOf(run, steps, index);
  const { messageIndex } = kept;
  if (messageIndex === messages.length) return { run, steps, messageIndex };
  return { run: cutRun(run, kept.steps), steps: kept.steps, messageIndex };
}

function cutRun(run: Run, steps: readonly StepRecord[]): Run {
  if (run.result === null) return run;
  const { metrics, metadata, sessionState } = run.result;
  const answer = messagesOf(run, steps).findLast(
    ({ role, fromHistory }) => role === 'assistant' && fromHistory !== true,
  );
  const media = producedMedia(steps);
  return {
    ...run,
    result: {
      content: answer?.content ?? '',
      contentType: 'str',
      ...(media.length > 0 && { media }),
      ...(metrics !== undefined && { metrics }),
      ...(metadata !== undefined && { metadata }),
      ...(sessionState !== undefined && { sessionState }),
    },
  };
}
