/** After so many removals, and as many as there are entries, these move to a new Map, which is then seldom an old object. */
const leastRemovals = 32;

/**
 * A Map whose entries come and go with the runs. V8 replaces the table of a Map again and again as entries are added and
 * removed, and each table leads to the next one. When one has outlived its time in the space of new objects, all that
 * follow stay in memory, with the entries that they had, until V8 collects the whole heap: most of what runs allocate
 * would become old. A new Map has no such past.
 */
export class TransientMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #removals = 0;

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    if (!this.#entries.delete(key)) return false;
    this.#removals += 1;
    if (this.#removals >= Math.max(leastRemovals, this.#entries.size)) {
      this.#entries = new Map(this.#entries);
      this.#removals = 0;
    }
    return true;
  }

  /** The entry that has been there longest. */
  first(): [Key, Value] | undefined {
    const { value } = this.#entries.entries().next();
    return value;
  }

  /** A list, as are the values and entries: it does not change when entries come and go. */
  keys(): Key[] {
    return [...this.#entries.keys()];
  }

  values(): Value[] {
    return [...this.#entries.values()];
  }

  entries(): [Key, Value][] {
    return [...this.#entries];
  }
}
