import type { LiveRun } from '../execution/live-run.js';
import type { WriteSource } from '../journal/write-queue.js';
import type { RunHint, RunNotifications } from './run-notifications.js';

/** What an engine does at once when a hint asks for it. It does the same without hints, a little later. */
export interface HintedWork {
  /** A run that is live in this process. */
  live(runId: string): LiveRun | undefined;
  /** Claims waiting runs if there is room. */
  lookForWaiting(): unknown;
  /** Releases the waiting runs that another process has claimed. */
  checkWaiting(): void;
  lookForCancellations(): void;
}

/** The hints that one engine sends and receives. */
export class RunHints {
  /** Live runs that readers in other processes follow: the others progress without a hint, which would cost a message. */
  private readonly followed = new WeakSet<WriteSource>();
  /** The readers in this process that follow runs of other processes, by run. */
  private readonly readers = new Map<string, Set<() => void>>();

  constructor(private readonly notifications: RunNotifications) {}

  publish(kind: RunHint['kind'], runId: string): void {
    this.notifications.publish({ kind, runId });
  }

  /** The changes of a run are durable. */
  stored(source: WriteSource): void {
    if (source.isOffered) this.publish('queued', source.runId);
    if (this.followed.has(source)) this.publish('progressed', source.runId);
  }

  /** Calls `wake` when a run that another process executes has progressed. The returned function ends that. */
  follow(runId: string, wake: () => void): () => void {
    const readers = this.readers.get(runId) ?? new Set();
    this.readers.set(runId, readers.add(wake));
    this.publish('followed', runId);
    return () => {
      readers.delete(wake);
      if (readers.size === 0 && this.readers.get(runId) === readers) this.readers.delete(runId);
    };
  }

  /** Begins to follow hints; the returned function ends that. */
  begin(work: HintedWork): () => void {
    return this.notifications.subscribe(({ kind, runId }) => {
      const live = work.live(runId);
      if (kind === 'queued') work.lookForWaiting();
      else if (kind === 'cancel_requested' && live !== undefined) work.lookForCancellations();
      else if (kind === 'followed' && live !== undefined) this.followed.add(live);
      else if (kind === 'progressed') this.wakeReaders(runId);
      else if (kind === 'claimed') {
        if (live?.isOffered) work.checkWaiting();
        // the process that has it now does not know its readers
        if (this.readers.has(runId)) this.publish('followed', runId);
      }
    });
  }

  private wakeReaders(runId: string): void {
    for (const wake of [...(this.readers.get(runId) ?? [])]) wake();
  }
}
