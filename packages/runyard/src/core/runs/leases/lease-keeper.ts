import { errors, isReported } from '../../errors/errors.js';
import type { EngineOptions } from '../engine-options.js';
import type { LiveRun } from '../execution/live-run.js';
import { Look } from './look.js';

/** How long to wait before a lease that could not be confirmed is tried again. */
const confirmMs = 500;

/** Keeps the leases of the runs that this process executes, and finds out which it has lost. */
export class LeaseKeeper {
  /** When all leases were renewed last, or there were none. */
  renewedAt = 0;
  private renewing: Promise<void> | undefined;

  constructor(
    private readonly executed: () => readonly LiveRun[],
    private readonly options: EngineOptions,
  ) {}

  /** Prolongs the leases of what is executed here, and of nothing else: a run that was lost has to be found. */
  renew(): Promise<void> {
    this.renewing ??= this.renewNow().finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewNow(): Promise<void> {
    const held = this.executed().filter(({ isHeld }) => isHeld);
    const { leases, owner, leaseMs, log, timers } = this.options;
    const began = { now: timers.now(), elapsed: timers.elapsed() };
    if (held.length === 0) {
      this.renewedAt = began.now;
      return;
    }
    try {
      const runs = held.map(({ runId, run }) => ({ runId, attempt: run.attempt }));
      const lost = new Set(await leases.renew(owner, runs, leaseMs));
      this.renewedAt = began.now;
      for (const live of held) {
        if (!lost.has(live.runId)) live.lease.taken(began);
        // a run that has ended in between has no lease to lose
        else if (live.isHeld) live.lose(errors.fenced(live.runId));
      }
    } catch (error) {
      if (!isReported(error)) log.warn({ err: error }, 'leases could not be renewed');
    }
  }

  /** Nothing begins under a lease that may have ended: another process may be executing the run. */
  confirmed(live: LiveRun): Promise<void> | undefined {
    return live.lease.mayHaveEnded() ? this.confirm(live) : undefined;
  }

  private async confirm(live: LiveRun): Promise<void> {
    for (const asked = live.lease.moment(); ; ) {
      await this.renew();
      live.abort.throwIfAborted();
      if (live.lease.wasTakenAfter(asked)) return;
      await new Promise<void>((resolve) => {
        this.options.timers.after(confirmMs, resolve);
      });
    }
  }

  /** Releases the runs that waited here and that another process has claimed: their readers follow it there. */
  readonly waiting = new Look(() => this.checkWaiting());

  private async checkWaiting(): Promise<void> {
    const waiting = this.executed().filter(({ isOffered }) => isOffered);
    if (waiting.length === 0) return;
    try {
      const asked = waiting.map(({ runId, run }) => ({ runId, attempt: run.attempt }));
      const taken = new Set(await this.options.queue.noLongerWaiting(asked));
      for (const live of waiting)
        if (taken.has(live.runId) && live.isOffered) live.lose(errors.fenced(live.runId));
    } catch (error) {
      this.options.log.warn({ err: error }, 'looking after the waiting runs failed');
    }
  }
}
