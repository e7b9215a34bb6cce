/** A map that frees what was used longest ago when it is full. */
export class LastUsed<Value> {
  readonly #values = new Map<string, Value>();

  constructor(private readonly capacity: number) {}

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.capacity) return;
    const [unused] = this.#values.keys();
    if (unused !== undefined) this.#values.delete(unused);
  }

  /** Frees all of them, and answers with them. */
  clear(): Value[] {
    const all = [...this.#values.values()];
    this.#values.clear();
    return all;
  }
}
