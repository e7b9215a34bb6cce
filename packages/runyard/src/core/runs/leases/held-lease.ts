import type { Timers } from '../../timers.js';

/** The same moment on the clock that people set and on the monotonic one. */
export interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

/** How much of a lease counts: the rest is for what lies between the look at the clock and the work. */
const trustedPart = 5 / 6;

/** What a process knows about the lease of one of its runs without asking the database. */
export class HeldLease {
  /** Whether there is a lease to lose. */
  private isHeld = false;
  /** When it was last taken or prolonged at the earliest, on both clocks. */
  private sinceNow = 0;
  private sinceElapsed = 0;

  constructor(
    readonly ms: number,
    private readonly timers: Pick<Timers, 'now' | 'elapsed'>,
  ) {}

  get isTaken(): boolean {
    return this.isHeld;
  }

  moment(): Moment {
    return { now: this.timers.now(), elapsed: this.timers.elapsed() };
  }

  /** A request that was made at this moment took or prolonged it. */
  taken({ now, elapsed }: Moment): void {
    this.isHeld = true;
    this.sinceNow = now;
    this.sinceElapsed = elapsed;
  }

  /** Whether it was prolonged by a request that came after this moment. */
  wasTakenAfter({ elapsed }: Moment): boolean {
    return this.isHeld && this.sinceElapsed >= elapsed;
  }

  /**
   * Whether it may have ended. Both clocks are asked: one stands still while the machine sleeps, the other may be set.
   */
  mayHaveEnded(): boolean {
    if (!this.isHeld) return false;
    const { now, elapsed } = this.moment();
    return Math.max(now - this.sinceNow, elapsed - this.sinceElapsed) > this.ms * trustedPart;
  }
}
