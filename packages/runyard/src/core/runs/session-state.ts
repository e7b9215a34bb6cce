import type { Json, JsonObject } from '../json.js';
import type { StateChange } from './ports.js';

/**
 * The state of a session as one run sees it. Changes are remembered by top-level key, so that parallel runs of a
 * session merge instead of undoing each other.
 */
export class SessionState {
  private changed: Set<string> | null = null;
  private readonly values: Map<string, Json>;

  constructor(
    private readonly sessionId: string,
    stored: JsonObject,
    private readonly onChange: () => void,
  ) {
    this.values = new Map(Object.entries(stored));
  }

  get(key: string): Json | undefined {
    return this.values.get(key);
  }

  set(key: string, value: Json): void {
    this.values.set(key, value);
    this.note(key);
  }

  delete(key: string): void {
    this.values.delete(key);
    this.note(key);
  }

  /** A copy of everything. */
  all(): JsonObject {
    return Object.fromEntries(this.values);
  }

  /** What changed since the last call. */
  takeChanges(): StateChange | undefined {
    if (this.changed === null) return undefined;
    const set: [string, Json][] = [];
    const remove: string[] = [];
    for (const key of this.changed) {
      const value = this.values.get(key);
      if (value === undefined) remove.push(key);
      else set.push([key, value]);
    }
    this.changed = null;
    return { sessionId: this.sessionId, set: Object.fromEntries(set), remove };
  }

  private note(key: string): void {
    this.changed ??= new Set();
    this.changed.add(key);
    this.onChange();
  }
}
