import { createHash } from 'node:crypto';
import type { RunWrite } from '../journal/ports.js';
import type { introductionRecord } from '../journal/records.js';
import type { Shaped } from '../journal/shapes.js';
import type { WriteSource } from '../journal/write-queue.js';
import type { Run, StepRecord } from '../run.js';

/** The introduction of a new session, to be written once. `first` is the run that comes after it. */
export function introductionOf(first: Run, content: string): WriteSource {
  let write: RunWrite | undefined = introductionWrite(first, content);
  return {
    runId: write.runId,
    isAccepted: false,
    drain() {
      const drained = write;
      write = undefined;
      return drained;
    },
    written() {},
    refused() {},
  };
}

/**
 * A run that has ended before it could be executed. Its id follows from the session's, so that of several first
 * runs that come at once one introduces it.
 */
function introductionWrite(first: Run, content: string): RunWrite {
  // a moment earlier, so that it stands first in every order
  const now = first.createdAt - 1;
  const runId = introductionId(first.sessionId);
  const insert: Run = {
    ...first,
    runId,
    input: { content: '', media: [], options: { stream: false } },
    model: null,
    modelProvider: null,
    createdAt: now,
    status: 'completed',
    result: { content, contentType: 'str' },
    leaseOwner: null,
    leaseExpiresAt: null,
    updatedAt: now,
  };
  const session = {
    sessionId: first.sessionId,
    kind: first.kind,
    componentId: first.componentId,
    userId: first.userId,
    name: null,
    now,
  };
  return { runId, attempt: insert.attempt, session, insert, steps: [introductionStep(insert, content)] };
}

function introductionStep({ runId, attempt, createdAt }: Run, content: string): StepRecord {
  return {
    runId,
    seq: 0,
    key: 'introduction',
    kind: 'introduction',
    name: 'introduction',
    parentKey: null,
    status: 'completed',
    attempt,
    input: null,
    output: { content } satisfies Shaped<typeof introductionRecord.shape>,
    error: null,
    startedAt: createdAt,
    endedAt: createdAt,
  };
}

function introductionId(sessionId: string): string {
  const hash = createHash('sha256').update(`introduction:${sessionId}`).digest('hex');
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `a${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join('-');
}
