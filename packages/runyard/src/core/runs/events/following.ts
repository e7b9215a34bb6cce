import type { Timers } from '../../timers.js';
import type { LiveRun } from '../execution/live-run.js';
import type { WriteSource } from '../journal/write-queue.js';
import type { RunNotifications } from '../notifications/run-notifications.js';
import type { EventRelay, Wake } from './event-relay.js';
import { RelayedRun } from './relayed-run.js';

/** What a reader has that follows a run of another process. */
export interface Follower {
  /** Says once more that it follows: that it does was not heard, or is forgotten. */
  repeat(): void;
  end(): void;
}

/** How this process follows runs of others, and others those of this one. */
export class Following {
  /** Live runs that readers in other processes follow: the others progress without a word, which would cost a message. */
  private readonly followed = new WeakSet<WriteSource>();
  private readonly relayed = new WeakMap<WriteSource, RelayedRun>();
  /** The readers in this process that follow runs of other processes, by run. */
  private readonly readers = new Map<string, Set<Wake>>();

  constructor(
    private readonly notifications: RunNotifications,
    private readonly relay: EventRelay | undefined,
  ) {}

  /** Begins to watch the relay; the returned function ends that. `live` are the live runs of this process. */
  begin(live: () => readonly LiveRun[]): () => void {
    return (
      this.relay?.onChange(() => {
        // their readers may have had the relay back sooner, and said so when this process could not use it
        for (const run of live()) if (this.followed.has(run)) this.heard(run);
        for (const [runId, readers] of this.readers) {
          this.announce(runId);
          for (const wake of [...readers]) wake('store');
        }
      }) ?? (() => {})
    );
  }

  /** A reader in another process follows a run of this one. */
  heard(live: LiveRun): void {
    this.followed.add(live);
    live.isAwaited = true;
    const { relay } = this;
    // it may have progressed between the reader's look at the store and now
    if (relay?.reachesAll !== true) this.notifications.publish({ kind: 'progressed', runId: live.runId });
    this.relayed.get(live)?.joined();
    if (relay?.isOpen !== true || this.relayed.has(live)) return;
    const onEnd = (isUnfollowed: boolean) => {
      this.relayed.delete(live);
      live.isAwaited = !isUnfollowed;
      if (isUnfollowed) this.followed.delete(live);
    };
    live.isAwaited = !relay.reachesAll;
    this.relayed.set(live, new RelayedRun(live.runId, live.log, relay, onEnd));
  }

  /** The changes of a run are durable. */
  stored(source: WriteSource): void {
    if (!this.followed.has(source)) return;
    const relayed = this.relayed.get(source);
    relayed?.stored();
    if (relayed === undefined || this.relay?.reachesAll !== true)
      this.notifications.publish({ kind: 'progressed', runId: source.runId });
  }

  /** Calls `wake` when a run that another process executes has progressed. */
  follow(runId: string, wake: Wake): Follower {
    const readers = this.readers.get(runId) ?? new Set();
    this.readers.set(runId, readers.add(wake));
    const listening = this.relay?.follow(runId, wake);
    // one that is heard of before it listens seems to have left
    if (listening === undefined) this.announce(runId);
    else void listening.begun.then(() => this.announce(runId));
    return {
      repeat: () => this.announce(runId),
      end: () => {
        listening?.end();
        readers.delete(wake);
        if (readers.size === 0 && this.readers.get(runId) === readers) this.readers.delete(runId);
      },
    };
  }

  /** Another process has the run now, and does not know its readers. */
  movedOn(runId: string): void {
    this.announce(runId);
    // it may be this one, and what the earlier one relayed last is no sign that more will come
    this.progressed(runId);
  }

  /** A run of another process has progressed. */
  progressed(runId: string): void {
    for (const wake of [...(this.readers.get(runId) ?? [])]) wake('store');
  }

  private announce(runId: string): void {
    if (this.readers.has(runId)) this.notifications.publish({ kind: 'followed', runId });
  }
}

/** The progress of one run of another process, for one who waits for it. */
export class Progress {
  private readonly follower: Follower;
  private isMade = false;
  private wake: (() => void) | undefined;

  constructor(
    following: Following,
    runId: string,
    private readonly timers: Pick<Timers, 'after'>,
  ) {
    this.follower = following.follow(runId, () => {
      this.isMade = true;
      this.wake?.();
    });
  }

  /** Resolves when the run has progressed since the last call, or after this time. */
  async within(ms: number): Promise<void> {
    if (!this.isMade)
      await new Promise<void>((resolve) => {
        const cancel = this.timers.after(ms, resolve);
        this.wake = () => {
          cancel();
          resolve();
        };
      });
    this.wake = undefined;
    this.isMade = false;
  }

  end(): void {
    this.follower.end();
  }
}
