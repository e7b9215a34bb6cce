import type { RunEnd } from './executable.js';
import type { RunFailure, RunResult } from './run.js';

/** A run that fails for a reason that lies outside of it. */
export function failedEnd(failure: RunFailure): RunEnd {
  return {
    status: 'error',
    failure,
    result: { content: failure.message, contentType: 'str', error: failure },
  };
}

/** What was said so far is kept; a run that had said nothing shows why it ended. */
export function cancelledEnd(reason: string, result: RunResult): RunEnd {
  const said = result.content !== '';
  const shown: RunResult = said ? { ...result, partial: true } : { ...result, content: reason };
  return { status: 'cancelled', reason, result: shown };
}
