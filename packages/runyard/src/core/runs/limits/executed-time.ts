import { readIf } from '../journal/codec.js';
import { continueInput } from '../journal/records.js';
import { inheritedAttempt, type Run, type StepRecord } from '../run.js';

/** What a `continue` step remembers of the executions before it, as a part of its input. */
export function executedUntil(run: Pick<Run, 'result'>): { executed_ms?: number } {
  const executed = run.result?.executedMs;
  return executed === undefined ? {} : { executed_ms: executed };
}

/**
 * For how many milliseconds a run was executed before this attempt. An execution that paused or ended stored it with
 * the run. Of one that crashed, the time from its first to its last recorded step counts.
 */
export function executedBefore(steps: readonly StepRecord[], attempt: number): number {
  if (steps.length === 0) return 0;
  let executed = 0;
  let since = inheritedAttempt + 1;
  for (const step of steps) {
    const until = step.kind === 'continue' ? readIf(step, continueInput)?.executed_ms : undefined;
    if (until === undefined || step.attempt < since) continue;
    executed = until;
    since = step.attempt;
  }
  return executed + crashedTime(steps, since, attempt);
}

function crashedTime(steps: readonly StepRecord[], since: number, attempt: number): number {
  const executions = new Map<number, StepRecord[]>();
  for (const step of steps) {
    // a question may have been asked in one execution and answered in another
    if (step.kind === 'wait' || step.attempt < since || step.attempt > attempt) continue;
    const known = executions.get(step.attempt);
    if (known === undefined) executions.set(step.attempt, [step]);
    else known.push(step);
  }
  const inOrder = [...executions].sort(([left], [right]) => left - right);
  let total = 0;
  for (const [index, [number, done]] of inOrder.entries()) {
    if (number === attempt) continue;
    const next =
      inOrder[index + 1]?.[1].reduce(earliest, Number.POSITIVE_INFINITY) ?? Number.POSITIVE_INFINITY;
    total += spanOf(done, next);
  }
  return total;
}

function earliest(time: number, { startedAt }: StepRecord): number {
  return Math.min(time, startedAt);
}

/** What was settled after the next execution began was not the work of this one. */
function spanOf(steps: readonly StepRecord[], next: number): number {
  const begun = steps.reduce(earliest, Number.POSITIVE_INFINITY);
  const times = steps.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt ?? startedAt]);
  const ended = times.reduce((last, time) => (time < next ? Math.max(last, time) : last), begun);
  return ended - begun;
}
