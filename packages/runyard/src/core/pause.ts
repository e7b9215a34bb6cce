import type { Timers } from './timers.js';

/** Waits, unless the signal aborts first: then it throws the reason of the abort. */
export function pause(ms: number, signal: AbortSignal, timers: Timers): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancelTimer();
      reject(signal.reason);
    };
    const cancelTimer = timers.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
