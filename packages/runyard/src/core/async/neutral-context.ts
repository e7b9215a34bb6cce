import { AsyncResource } from 'node:async_hooks';

/** The context of no run and no request. */
const neutral = new AsyncResource('Runyard');

/**
 * For work that serves many runs or requests: it runs in the context of none of them, whichever caused it, and keeps
 * nothing that the application has in its own `AsyncLocalStorage` for that one.
 */
export function inNeutralContext<T>(work: () => T): T {
  return neutral.runInAsyncScope(work);
}
