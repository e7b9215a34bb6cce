import type { Run } from '../run.js';
import type { HeldRun } from './run-leases.js';

/**
 * The runs that wait for a process. `RunJournal.commit` adds a run, by storing it as pending or running without a
 * lease, and a claim removes it: the queue is a view of what is stored, and no second truth that could diverge.
 *
 * An implementation outside the database, such as Redis, learns of new runs from the hint `queued`. It may list a run
 * late, or one that no longer waits: a claim decides. Because hints get lost, it must compare itself with the database
 * from time to time, so that every waiting run is listed in the end.
 */
export interface RunQueue {
  /**
   * Pending and running runs without a lease, which any process with a free slot may claim, without the first `passed`.
   * Their order is that of `FairQueue`: by priority, then the user and the component with the fewest runs in execution,
   * then the oldest. With `of`: only those of these components, as `componentKey` names them.
   */
  waiting(limit: number, passed: number, of?: readonly string[]): Promise<readonly Run[]>;

  /** Paused runs whose time to continue has come, the most overdue first; `passed` and `of` as above. */
  due(limit: number, passed: number, of?: readonly string[]): Promise<readonly Run[]>;

  /** The ids of those of the runs that no longer wait in this attempt: a process has claimed or ended them. */
  noLongerWaiting(waiting: readonly HeldRun[]): Promise<readonly string[]>;
}
