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
  /** When it was last taken or prolonged at the earliest; undefined: no lease to lose. */
  private since: Moment | undefined;

  constructor(
    readonly ms: number,
    private readonly timers: Pick<Timers, 'now' | 'elapsed'>,
  ) {}

  get isTaken(): boolean {
    return this.since !== undefined;
  }

  moment(): Moment {
    return { now: this.timers.now(), elapsed: this.timers.elapsed() };
  }

  /** A request that was made at this moment took or prolonged it. */
  taken(at: Moment): void {
    this.since = at;
  }

  /** Whether it was prolonged by a request that came after this moment. */
  wasTakenAfter({ elapsed }: Moment): boolean {
    return this.since !== undefined && this.since.elapsed >= elapsed;
  }

  /**
   * Whether it may have ended. Both clocks are asked: one stands still while the machine sleeps, the other may be set.
   */
  mayHaveEnded(): boolean {
    if (this.since === undefined) return false;
    const { now, elapsed } = this.moment();
    return Math.max(now - this.since.now, elapsed - this.since.elapsed) > this.ms * trustedPart;
  }
}
