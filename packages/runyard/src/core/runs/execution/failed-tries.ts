import { pause } from '../../async/abort.js';
import type { Json } from '../../json.js';
import { ModelStopped } from '../../models/model-stopped.js';
import type { Timers } from '../../timers.js';
import type { FailedTry, RunContext, StepScope } from '../context.js';
import { read } from '../journal/codec.js';
import { tryInput } from '../journal/records.js';
import { tryKey } from '../journal/try-keys.js';
import { failureOf } from '../run-failure.js';
import type { LiveRun } from './live-run.js';

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
    ...failureOfStep(error),
    startedAt,
    endedAt: now,
  });
}

/** What a step keeps of what ended it. The answer of a model that stopped is kept: its tokens count. */
export function failureOfStep(error: unknown): { readonly error: Json; readonly output: unknown } {
  const { type, message } = failureOf(error);
  return { error: { name: type, message }, output: error instanceof ModelStopped ? error.answer : null };
}

/**
 * How often the work of a step has failed and was to be tried again, in executions that a crash or a stop ended.
 * Resolves when what is left of the wait before the next try is over.
 */
export async function resumeTries(context: RunContext, { key, signal }: StepScope): Promise<number> {
  const tries = context.partsOf(key).filter(({ kind }) => kind === 'try');
  const last = tries.at(-1);
  if (last !== undefined) {
    const { delay_ms: delayMs } = read(last, tryInput);
    await pauseSince(last.endedAt, delayMs, signal, context.timers);
  }
  return tries.length;
}

/** Waits for so long after a moment, of which a part may be over. */
export async function pauseSince(
  moment: number | null,
  ms: number,
  signal: AbortSignal,
  timers: Timers,
): Promise<void> {
  const now = timers.now();
  // a clock that was set back does not make the wait longer
  const left = Math.min(ms, (moment ?? now) + ms - now);
  if (left > 0) await pause(left, signal, timers);
}
