/** So many at once; the others wait, first come first served. */
export class Lanes {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly count: number) {}

  async enter<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken < this.count) this.taken += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // whoever waits takes the lane over
      if (next === undefined) this.taken -= 1;
      else next();
    }
  }
}
