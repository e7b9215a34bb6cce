import { errors } from '../errors/errors.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, StepRecord } from '../runs/run.js';
import { unreachable } from './remote-failures.js';

/**
 * What is kept of a run when it, or a copy of it, continues. One that lost its service continues with the remote run that
 * it began; any other begins a new one there, in the same session. The conversation itself is at the other service, so
 * nothing continues in the middle of it.
 */
export function remoteContinuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
  if (typeof from === 'number' || typeof from === 'object') throw errors.remoteConversation();
  const isLost = run.status === 'error' && run.result?.error?.type === unreachable && from === 'end';
  return { steps: isLost ? steps : [], messageIndex: 0, turn: 0 };
}
