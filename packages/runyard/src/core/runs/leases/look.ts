/** A repeated look at the store, one at a time. */
export class Look {
  private isLooking = false;
  private again = false;

  constructor(private readonly look: () => Promise<void>) {}

  /** Looks, unless a look is in progress. */
  async poll(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      do {
        this.again = false;
        await this.look();
      } while (this.again);
    } finally {
      this.isLooking = false;
    }
  }

  /** Looks now. A look in progress may have read the store too early: one more follows it. */
  hint(): Promise<void> {
    this.again = true;
    return this.poll();
  }
}
