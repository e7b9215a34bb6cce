import type { Run } from '../run.js';

/**
 * Which process executes which run, and until when no other process may. All times are those of one clock, `now`: that
 * of the database, where several processes share one, because their own clocks differ. The conformance suite checks
 * these promises on every database.
 */
export interface RunLeases {
  /** The time by the clock that decides about leases and deadlines. */
  now(): Promise<number>;

  /**
   * Takes over a pending or running run: raises its attempt if it still is `attempt` and no process holds a lease that
   * has not ended. Of several simultaneous claims one succeeds. `RunWrite.claims` takes up a run that rests.
   */
  claim(claim: LeaseClaim): Promise<Run | undefined>;

  /**
   * Prolongs the leases of those of the runs that `owner` still holds in this attempt, also when the lease had ended.
   * Returns the ids of the others: this process has lost them.
   */
  renew(owner: string, held: readonly HeldRun[], leaseMs: number): Promise<readonly string[]>;

  /** Ends the leases of all runs that `owner` holds: they wait in the queue from then on. */
  release(owner: string): Promise<void>;

  /** All owners that hold a lease of a pending or running run, also one that has ended. */
  owners(): Promise<readonly string[]>;

  /**
   * Pending and running runs whose lease has ended, oldest first, without the first `passed`. With `of`: only those of
   * these components, as `componentKey` names them.
   */
  expired(limit: number, passed: number, of?: readonly string[]): Promise<readonly Run[]>;
}

/** A run in the attempt that a process executes. */
export interface HeldRun {
  readonly runId: string;
  readonly attempt: number;
}

export interface LeaseClaim extends HeldRun {
  readonly owner: string;
  /** How long the lease lasts. */
  readonly leaseMs: number;
  /** By how much the claim raises the next event index: past what was sent and is not stored. */
  readonly indexGap: number;
}
