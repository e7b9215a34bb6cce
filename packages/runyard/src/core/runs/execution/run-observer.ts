import type { Usage } from '../../models/message.js';
import type { Model } from '../../models/model.js';
import type { Run, RunStatus } from '../run.js';

/** What a model answered, as far as it is counted. */
export interface ObservedAnswer {
  readonly usage: Usage;
  /** It came from the cache: no provider was called. */
  readonly cached?: boolean;
}

/** Where the lease of a run went. */
export type LeaseEnd =
  /** Another process has the run: this one was too slow to renew its lease. */
  | 'lost'
  /** This process stops, and leaves the run to the others. */
  | 'handed_on';

/**
 * Is notified of what an engine does as it happens, to count it. Its methods are called on the way of every run: they
 * must neither fail nor take time.
 */
export interface RunObserver {
  /** A run begins to be executed here: a new one, one that continues, or one whose process died. */
  runBegan(run: Run, entry: 'started' | 'continued' | 'recovered'): void;
  /** A run was stored as paused or ended. */
  runRested(run: Run, status: RunStatus): void;
  leaseEnded(how: LeaseEnd): void;
  modelAnswered(model: Model, ms: number, answer: ObservedAnswer): void;
  modelFailed(model: Model, ms: number, error: unknown): void;
  toolEnded(name: string, ms: number, failed: boolean): void;
  /** Changes of a run are durable, so long after the first of them was made. */
  stored(ms: number): void;
}
