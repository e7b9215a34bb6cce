interface Reading<Value> {
  readonly now: Promise<Value>;
  next?: Promise<Value>;
}

/**
 * Reads that many callers ask for at once. A caller never gets what was read before they asked: while a read is under
 * way, all who come share the one after it.
 */
export class SharedReads<Value> {
  readonly #readings = new Map<string, Reading<Value>>();

  get(key: string, read: () => Promise<Value>): Promise<Value> {
    const reading = this.#readings.get(key);
    if (reading === undefined) return this.#begin(key, read);
    const begin = () => this.#begin(key, read);
    reading.next ??= reading.now.then(begin, begin);
    return reading.next;
  }

  #begin(key: string, read: () => Promise<Value>): Promise<Value> {
    const reading: Reading<Value> = { now: read() };
    this.#readings.set(key, reading);
    const ended = () => {
      // with callers for the next one, that takes its place
      if (reading.next === undefined) this.#readings.delete(key);
    };
    reading.now.then(ended, ended);
    return reading.now;
  }
}
