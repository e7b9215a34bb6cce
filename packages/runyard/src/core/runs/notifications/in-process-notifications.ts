import type { RunHint, RunNotifications } from './run-notifications.js';

/** For a database that one process uses: the hints reach the engines of this process. */
export class InProcessNotifications implements RunNotifications {
  readonly #listeners = new Set<(hint: RunHint) => void>();

  publish(hint: RunHint): void {
    for (const listener of this.#listeners) {
      try {
        listener(hint);
      } catch {
        // a lost hint does no harm
      }
    }
  }

  subscribe(listener: (hint: RunHint) => void): () => void {
    // one function may subscribe twice
    const own = (hint: RunHint) => listener(hint);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
