import type { Timers } from '../timers.js';

export interface PollLoopOptions {
  readonly timers: Timers;
  /** Takes what is due, and returns in how many milliseconds to look again. It does not reject. */
  readonly look: () => Promise<number>;
  /** The shortest wait: what is due and was not taken is in the hands of another process. */
  readonly leastWaitMs: number;
}

/** Looks for work in a table that is a queue: when asked, and by itself. One look at a time, and no request is lost. */
export class PollLoop {
  #isStarted = false;
  #isAsked = false;
  #looking: Promise<void> | undefined;
  #cancelWait = () => {};

  constructor(private readonly options: PollLoopOptions) {}

  get isStarted(): boolean {
    return this.#isStarted;
  }

  start(): void {
    this.#isStarted = true;
  }

  /** Resolves when no look is under way. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#cancelWait();
    await this.#looking;
  }

  /** A request during a look causes another one. */
  look(): void {
    if (!this.#isStarted) return;
    this.#cancelWait();
    this.#isAsked = true;
    this.#looking ??= this.#lookNow();
  }

  async #lookNow(): Promise<void> {
    const { look, timers, leastWaitMs } = this.options;
    let waitMs: number;
    do {
      this.#isAsked = false;
      waitMs = await look();
    } while (this.#isAsked && this.#isStarted);
    // in the turn of the last check: a request that comes from now on begins a look of its own
    this.#looking = undefined;
    if (this.#isStarted) this.#cancelWait = timers.after(Math.max(waitMs, leastWaitMs), () => this.look());
  }
}
