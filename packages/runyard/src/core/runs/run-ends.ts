import { isReported } from '../errors/errors.js';
import { type RunContext, RunPaused } from './context.js';
import { type Executable, RunCancelled, type RunEnd } from './executable.js';
import { dueAtOf } from './journal/due-questions.js';
import { LimitExceeded } from './limits/limit-exceeded.js';
import { definitionChanged } from './resume/replay.js';
import type { RunFailure, RunResult, StepRecord } from './run.js';
import { failureOf } from './run-failure.js';

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

/** A run that may continue keeps for how long it was executed: its limit on time counts on. */
export function restingResult({ status, result }: RunEnd, { guard }: RunContext): RunResult {
  if (guard === undefined || (status !== 'paused' && status !== 'error')) return result;
  return { ...result, executedMs: guard.executedMs };
}

/** A run that waits for several things continues with the first that answers itself. */
export function wakeAtOf(steps: readonly StepRecord[]): number | null {
  const due = steps.flatMap((step) => dueAtOf(step) ?? []);
  return due.length === 0 ? null : Math.min(...due);
}

export function isUnfit(end: RunEnd): boolean {
  return end.status === 'error' && end.failure.type === definitionChanged;
}

export function isOpenQuestion({ kind, status }: StepRecord): boolean {
  return kind === 'wait' && status === 'running';
}

/** How a run ends whose work ended with an error: it is cancelled, waits, or has failed. */
export function endAfter(error: unknown, executable: Executable, context: RunContext): RunEnd {
  const metrics = executable.metrics?.(context);
  const result: RunResult = {
    ...context.draft,
    contentType: 'str',
    sessionState: context.state.all(),
    ...(metrics !== undefined && { metrics }),
  };
  if (error instanceof RunCancelled) return cancelledEnd(error.reason, result);
  if (error instanceof RunPaused) return { status: 'paused', requirements: error.requirements, result };
  const failure = failureOf(error);
  if (!isReported(error)) context.log.warn({ err: error, runId: context.run.runId }, 'a run failed');
  const said = error instanceof LimitExceeded && context.draft.content !== '';
  const brokenOff = said ? { brokenOff: context.draft.content } : {};
  return {
    status: 'error',
    failure,
    result: { ...result, ...brokenOff, content: failure.message, error: failure },
  };
}
