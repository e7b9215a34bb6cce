import { RunFailed } from '../../runs/executable.js';
import type { Timers } from '../../timers.js';

/** What the wire calls it. */
export const timeoutType = 'step_timeout';

/** The time of a step was up. */
export class StepTimeout extends RunFailed {
  constructor(message: string) {
    super({ type: timeoutType, message });
  }
}

/**
 * Does the work with a signal that is aborted with the run's, or when the time is up; whichever comes first counts.
 * Work that has something to tidy up then has the grace to do so.
 */
export function withinTime<T>(
  timeoutMs: number | undefined,
  signal: AbortSignal,
  timers: Timers,
  name: string,
  work: (signal: AbortSignal) => T | Promise<T>,
  graceMs = 0,
): Promise<T> {
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    let cancelGrace = (): void => {};
    let fail = reject;
    const giveUp = (reason: unknown): void => {
      // whatever the work makes of being stopped
      fail = () => reject(reason);
      if (graceMs === 0) reject(reason);
      else cancelGrace = timers.after(graceMs, () => reject(reason));
      controller.abort(reason);
    };
    const onAbort = (): void => giveUp(signal.reason);
    const cancelTimer =
      timeoutMs === undefined
        ? undefined
        : timers.after(timeoutMs, () =>
            giveUp(new StepTimeout(`'${name}' did not finish within ${timeoutMs} ms and was stopped.`)),
          );
    signal.addEventListener('abort', onAbort, { once: true });
    new Promise<T>((done) => {
      done(work(controller.signal));
    })
      .then(resolve, (error: unknown) => fail(error))
      .finally(() => {
        cancelTimer?.();
        cancelGrace();
        signal.removeEventListener('abort', onAbort);
      });
    // a run that was aborted before is noticed as well
    if (signal.aborted) onAbort();
  });
}
