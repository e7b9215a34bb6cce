import type { Json, JsonObject } from '../json.js';
import type { StateChange } from './ports.js';

/**
 * The state of a session as one run sees it. Changes are remembered by top-level key, so that parallel runs of a
 * session merge instead of undoing each other.
 */
export class SessionState {
  private readonly changed = new Set<string>();
  private values: JsonObject;

  constructor(
    private readonly sessionId: string,
    stored: JsonObject,
    private readonly onChange: () => void,
  ) {
    this.values = { ...stored };
  }

  get(key: string): Json | undefined {
    return this.values[key];
  }

  set(key: string, value: Json): void {
    this.values[key] = value;
    this.changed.add(key);
    this.onChange();
  }

  delete(key: string): void {
    delete this.values[key];
    this.changed.add(key);
    this.onChange();
  }

  /** A copy of everything. */
  all(): JsonObject {
    return { ...this.values };
  }

  /** What changed since the last call. */
  takeChanges(): StateChange | undefined {
    if (this.changed.size === 0) return undefined;
    const set: JsonObject = {};
    const remove: string[] = [];
    for (const key of this.changed) {
      const value = this.values[key];
      if (value === undefined) remove.push(key);
      else set[key] = value;
    }
    this.changed.clear();
    return { sessionId: this.sessionId, set, remove };
  }
}
