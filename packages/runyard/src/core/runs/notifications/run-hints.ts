import type { Following } from '../events/following.js';
import type { LiveRun } from '../execution/live-run.js';
import type { WriteSource } from '../journal/write-queue.js';
import type { RunHint, RunNotifications } from './run-notifications.js';

/** What an engine does at once when a hint asks for it. It does the same without hints, a little later. */
export interface HintedWork {
  /** A run that is live in this process. */
  live(runId: string): LiveRun | undefined;
  allLive(): readonly LiveRun[];
  /** Claims waiting runs if there is room: this one was queued. */
  lookForWaiting(runId: string): unknown;
  /** Releases the waiting runs that another process has claimed. */
  checkWaiting(): void;
  lookForCancellations(): void;
}

/** The hints that one engine sends and receives. */
export class RunHints {
  constructor(
    private readonly notifications: RunNotifications,
    private readonly following: Following,
  ) {}

  publish(kind: RunHint['kind'], runId: string): void {
    this.notifications.publish({ kind, runId });
  }

  /** The changes of a run are durable. */
  stored(source: WriteSource): void {
    if (source.isOffered) this.publish('queued', source.runId);
    this.following.stored(source);
  }

  /** Begins to follow hints; the returned function ends that. */
  begin(work: HintedWork): () => void {
    const endings = [
      this.following.begin(() => work.allLive()),
      this.notifications.subscribe(({ kind, runId }) => {
        const live = work.live(runId);
        if (kind === 'queued') work.lookForWaiting(runId);
        else if (kind === 'cancel_requested' && live !== undefined) work.lookForCancellations();
        else if (kind === 'followed' && live !== undefined) this.following.heard(live);
        else if (kind === 'progressed') this.following.progressed(runId);
        else if (kind === 'claimed') {
          if (live?.isOffered) work.checkWaiting();
          this.following.movedOn(runId);
        }
      }),
    ];
    return () => {
      for (const end of endings) end();
    };
  }
}
