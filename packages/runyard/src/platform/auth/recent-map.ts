/** A map that forgets what was set longest ago when it is full, so that strangers cannot make it grow. */
export class RecentMap<Value> {
  readonly #values = new Map<string, Value>();

  constructor(private readonly capacity: number) {}

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    if (this.#values.size >= this.capacity) {
      const [eldest] = this.#values.keys();
      if (eldest !== undefined) this.#values.delete(eldest);
    }
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  /** Forgets all that a condition holds for. */
  deleteWhere(condition: (value: Value) => boolean): void {
    for (const [key, value] of this.#values) if (condition(value)) this.#values.delete(key);
  }
}
