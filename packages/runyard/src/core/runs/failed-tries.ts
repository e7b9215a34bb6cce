import type { Json } from '../json.js';
import type { FailedTry } from './context.js';
import type { LiveRun } from './live-run.js';
import type { StepRecord } from './run.js';
import { failureOf } from './run-failure.js';

/** The step of a call that failed and was made again: the `number`th one of this execution of the run. */
function tryKey(stepKey: string, attempt: number, number: number): string {
  return `${stepKey}:try:${attempt}:${number}`;
}

/** The key of the step whose work it was a try of. */
export function triedKey({ key }: Pick<StepRecord, 'key'>): string {
  return key.replace(/:try:\d+:\d+$/, '');
}

/** Writes down that the work of a step failed and is tried again. */
export function noteTry(
  live: LiveRun,
  of: string,
  { name, error, startedAt, delayMs, model }: FailedTry,
  { aroundKey, now }: { readonly aroundKey: string | null; readonly now: number },
): void {
  const { attempt } = live.run;
  let number = 0;
  while (live.step(tryKey(of, attempt, number)) !== undefined) number += 1;
  live.putStep({
    runId: live.runId,
    seq: live.nextSeq(),
    key: tryKey(of, attempt, number),
    kind: 'try',
    name,
    // beside the call that follows it
    parentKey: live.step(of)?.parentKey ?? aroundKey,
    status: 'error',
    attempt,
    input: { delay_ms: delayMs, ...(model !== undefined && { model }) },
    output: null,
    error: errorOfStep(error),
    startedAt,
    endedAt: now,
  });
}

/** What a step keeps of what ended it. */
export function errorOfStep(error: unknown): Json {
  const { type, message } = failureOf(error);
  return { name: type, message };
}
