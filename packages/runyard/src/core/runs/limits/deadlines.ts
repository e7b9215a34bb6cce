import { inNeutralContext } from '../../async/neutral-context.js';
import { TransientMap } from '../../collections/transient-map.js';
import type { Timers } from '../../timers.js';

/** Something that has a deadline. */
export interface Timed {
  /** Called once, at the deadline. */
  timeUp(): void;
}

/**
 * Many deadlines, with one timer for all of the same duration, which is that of most runs: a timer for each would take
 * half a kilobyte as long as the run lives. The timers keep no process alive.
 */
export class Deadlines {
  /** By their duration in milliseconds. */
  private readonly lines = new Map<number, Line>();

  constructor(private readonly timers: Timers) {}

  /** Calls `timeUp` after this time, unless it is deleted before. */
  add(ms: number, timed: Timed): void {
    let line = this.lines.get(ms);
    if (line === undefined) {
      line = new Line(ms, this.timers, () => this.lines.delete(ms));
      this.lines.set(ms, line);
    }
    line.add(timed);
  }

  delete(ms: number, timed: Timed): void {
    this.lines.get(ms)?.delete(timed);
  }
}

/** Deadlines of one duration: they are due in the order in which they were added. */
class Line {
  /** When each is due. */
  private readonly ends = new TransientMap<Timed, number>();
  private stopTimer: (() => void) | undefined;

  constructor(
    private readonly ms: number,
    private readonly timers: Timers,
    private readonly onEmpty: () => void,
  ) {}

  add(timed: Timed): void {
    // a whole number takes no memory of its own
    this.ends.set(timed, Math.ceil(this.timers.elapsed() + this.ms));
    if (this.stopTimer === undefined) this.waitForFirst();
  }

  delete(timed: Timed): void {
    this.ends.delete(timed);
    if (this.ends.size > 0) return;
    this.stop();
    this.onEmpty();
  }

  /** All share the timer: application code that added the first one must not become its owner. */
  private waitForFirst(): void {
    this.stop();
    const [, end] = this.ends.first() ?? [];
    if (end === undefined) return;
    const ms = Math.max(Math.ceil(end - this.timers.elapsed()), 1);
    this.stopTimer = inNeutralContext(() => this.timers.every(ms, () => this.look()));
  }

  private stop(): void {
    this.stopTimer?.();
    this.stopTimer = undefined;
  }

  /** The first may have been deleted since the timer began, and a timer may fire early. */
  private look(): void {
    const now = this.timers.elapsed();
    try {
      for (let first = this.ends.first(); first !== undefined && first[1] <= now; first = this.ends.first()) {
        const [timed] = first;
        this.delete(timed);
        timed.timeUp();
      }
    } finally {
      this.waitForFirst();
    }
  }
}
