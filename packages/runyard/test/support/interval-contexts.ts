import type { AsyncLocalStorage } from 'node:async_hooks';
import { onTestFinished, vi } from 'vitest';

/** What the store has where each interval is set, from now until the end of the test. */
export function intervalContexts<T>(store: AsyncLocalStorage<T>): readonly (T | undefined)[] {
  const seen: (T | undefined)[] = [];
  const set = globalThis.setInterval;
  const spy = vi.spyOn(globalThis, 'setInterval').mockImplementation((...given) => {
    seen.push(store.getStore());
    return set(...given);
  });
  onTestFinished(() => spy.mockRestore());
  return seen;
}
