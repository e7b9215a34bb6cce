import { ApiError } from './errors.js';

const firstMs = 250;
const mostMs = 5_000;

/** The wait before another attempt: doubled each time, at random so that many clients do not return together. */
export function backOffMs(failures: number, error?: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return asked + Math.random() * Math.min(mostMs, firstMs * 2 ** failures);
}

/** Platforms call the function at once if the time is longer. */
const longestTimerMs = 2 ** 31 - 1;

/** Calls the function after this time. Returns what prevents that. */
export function timer(ms: number, expired: () => void): () => void {
  const id = setTimeout(expired, Math.min(ms, longestTimerMs));
  return () => clearTimeout(id);
}

/** Waits. Throws the reason of the signal when that is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let stop = () => {};
  const waited = new Promise<void>((resolve) => {
    stop = timer(ms, resolve);
  });
  return unlessAborted(waited, signal).finally(() => stop());
}

/** The result of the work, or the reason of the signal if that is aborted first. The work itself is not ended. */
export async function unlessAborted<T>(work: T | Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
