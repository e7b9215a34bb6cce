/** So many of those in a hurry go in a row before one that waits. */
const mostInARow = 4;

/** Lets one at a time through: those in a hurry before the others, and each kind in the order in which they asked. */
export class Turns {
  readonly #hurried: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;
  #inARow = 0;

  /** Resolves when it is the caller's turn; the turn lasts until the returned function is called. */
  async take({ hurries = false } = {}): Promise<() => void> {
    if (this.#isTaken)
      await new Promise<void>((resolve) => (hurries ? this.#hurried : this.#waiting).push(resolve));
    this.#isTaken = true;
    let isOver = false;
    return () => {
      if (!isOver) this.#next();
      isOver = true;
    };
  }

  /** The turn stays taken while it passes to the next one. */
  #next(): void {
    const mayHurry = this.#inARow < mostInARow || this.#waiting.length === 0;
    const hurried = mayHurry ? this.#hurried.shift() : undefined;
    this.#inARow = hurried === undefined ? 0 : this.#inARow + 1;
    const next = hurried ?? this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}
