/** Bounds how much work is done at once; the rest waits in the order in which it came. */
export class Semaphore {
  private taken = 0;
  private readonly queue = new Set<() => void>();

  constructor(private readonly limit: number) {}

  get executing(): number {
    return this.taken;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Whether work that came now would have to wait. */
  get full(): boolean {
    return this.taken >= this.limit;
  }

  /** Takes a place: at once (undefined), or when the promise resolves. It rejects when the signal aborts first. */
  enter(signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (!this.full) {
      this.taken += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.queue.delete(enter);
        reject(signal?.reason);
      };
      this.queue.add(enter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Gives a place back: to what has waited longest. */
  leave(): void {
    const [next] = this.queue;
    if (next === undefined) {
      this.taken -= 1;
      return;
    }
    this.queue.delete(next);
    next();
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}

/**
 * Does the work for each item, so many at once. An item is taken when its work can begin; after a failure, no further
 * one is. The results are in the order of the items.
 */
export async function mapConcurrently<Item, Result>(
  limit: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items[Symbol.iterator]();
  let begun = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done && !failed; next = rest.next()) {
      const position = begun++;
      try {
        results[position] = await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
