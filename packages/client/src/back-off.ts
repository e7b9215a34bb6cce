import { ApiError } from './errors.js';

const firstMs = 250;
const mostMs = 5_000;

/** The wait before another attempt: doubled each time, at random so that many clients do not return together. */
export function backOffMs(failures: number, error?: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return asked + Math.random() * Math.min(mostMs, firstMs * 2 ** failures);
}

/** Waits. Throws the reason of the signal when that is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
