import { AsyncResource } from 'node:async_hooks';

/** The context of no run and no request. */
const neutral = new AsyncResource('Runyard');

/**
 * For what serves many runs or requests: it works for none of them, whichever caused it, and keeps nothing of what the
 * application has in its own `AsyncLocalStorage` for that one.
 */
export function inNeutralContext<T>(work: () => T): T {
  return neutral.runInAsyncScope(work);
}
