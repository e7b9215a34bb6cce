import { deliver, promised, type Receiver } from '../../receiver.js';
import type { Timers } from '../../timers.js';
import type { TextSource } from '../journal/long-texts.js';
import type { RunJournal } from '../journal/ports.js';
import { terminalStatuses } from '../run.js';
import type { EventLog, Waiter } from './event-log.js';
import type { EventRelay, Wake, WokenFor } from './event-relay.js';
import type { Follower } from './following.js';
import { decodeBlock, type LoggedEvent } from './logged-event.js';
import { relayedEvents } from './relayed-events.js';

/** How often a run that another process executes is polled: usually, and while its events come without gaps anyway. */
const pollMs = 200;
const relayedPollMs = 2_000;
const batchEvents = 512;
const partsAtOnce = 2;

export interface EventSources {
  readonly journal: RunJournal;
  readonly timers: Timers;
  /** The log of a run that is live in this process. */
  liveLog(runId: string): EventLog | undefined;
  /** What carries events of other processes sooner than the store. */
  readonly relay?: EventRelay | undefined;
  /** Calls `wake` when a run that another process executes may have progressed. */
  follow?(runId: string, wake: Wake): Follower;
  /** The events of an ended run, rebuilt from its journal: those that were sent are no longer kept. */
  rebuilt?(runId: string): Promise<readonly LoggedEvent[]>;
}

type Found = readonly LoggedEvent[] | null;

/**
 * A cursor over the events of one run: from memory while the run is live here and the reader keeps up, from the
 * store otherwise. It holds no events, so a reader that stops reading costs only itself.
 */
export class EventReader implements Waiter {
  private closed = false;
  private log: EventLog | undefined;
  /** Waits for more of a live run. */
  private receiver: Receiver<Found> | null = null;
  /** Ends the wait of `look`. */
  private resume: (() => void) | null = null;
  private stopPolling: (() => void) | null = null;
  private closedListener: (() => void) | null = null;
  private follower: Follower | undefined;
  /** Where more of a run of another process may be. */
  private due: WokenFor | undefined = 'store';
  /** Whether the last look had no other reason than the time. */
  private polled = false;
  /** Whether the relay has announced events since the last look. */
  private announced = false;
  /** Whether the relay carries the events of the run: nothing since has come another way. */
  private relayed = false;
  /** Whether the last events came from the store, or none has come yet. */
  private followsStore = true;

  constructor(
    private readonly sources: EventSources,
    readonly runId: string,
    private cursor: number,
    private readonly filter: ((event: LoggedEvent) => boolean) | null = null,
    /** The log of a run that was live here until now. */
    private readonly lastLog?: EventLog,
  ) {
    this.log = this.liveLog();
  }

  /** Ends the reading; a `next` that waits answers null. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.endFollowing();
    this.wake();
    this.closedListener?.();
  }

  /** Calls `listener` when the reader is closed before the end of the run. */
  onClosed(listener: () => void): void {
    this.closedListener = listener;
  }

  /** The next events, in order, at least one; null at the end of the run (or of its present life: a pause). */
  next(): Promise<Found> {
    return promised((receiver) => this.nextFor(receiver));
  }

  /** The same without a promise: most readers wait for a live run that is silent, and a promise takes half a kilobyte. */
  nextFor(receiver: Receiver<Found>): void {
    const events = this.atHand();
    if (events === undefined) this.serve(receiver);
    else receiver.received(events);
  }

  /** The log has changed, or the reader is closed. */
  wake(): void {
    this.log?.forget(this);
    this.stopPolling?.();
    this.stopPolling = null;
    this.resume?.();
    this.resume = null;
    const { receiver } = this;
    if (receiver === null) return;
    this.receiver = null;
    // what is sent in the same moment is read together
    queueMicrotask(() => this.nextFor(receiver));
  }

  private serve(receiver: Receiver<Found>): void {
    const { log } = this;
    if (this.closed || log === undefined || log.ended || log.hasMore(this.cursor))
      deliver(this.look(), receiver);
    else {
      this.receiver = receiver;
      log.onceChanged(this);
    }
  }

  /** What a live run has in memory for this reader. */
  private atHand(): readonly LoggedEvent[] | undefined {
    const { log } = this;
    if (this.closed || log === undefined || (log.ended && log.movedAway)) return undefined;
    const events = log.read(this.cursor, batchEvents);
    return events === 'behind' ? undefined : this.taken(events);
  }

  /** The wanted events among these; undefined when no event is wanted. */
  private taken(events: readonly LoggedEvent[]): readonly LoggedEvent[] | undefined {
    const last = events.at(-1);
    if (last === undefined) return undefined;
    this.cursor = last.index + 1;
    const wanted = this.filter === null ? events : events.filter(this.filter);
    return wanted.length > 0 ? wanted : undefined;
  }

  /** Looks until there is something, or nothing will come. */
  private async look(): Promise<Found> {
    try {
      while (!this.closed) {
        const events = await this.available();
        if (events === null) {
          this.closedListener = null;
          break;
        }
        const wanted = this.taken(events);
        if (wanted !== undefined) return wanted;
        if (events.length === 0) await this.wait();
      }
    } catch (error) {
      // its user may not close it
      this.endFollowing();
      throw error;
    }
    this.endFollowing();
    return null;
  }

  private liveLog(): EventLog | undefined {
    const { lastLog } = this;
    return this.sources.liveLog(this.runId) ?? (lastLog?.movedAway ? undefined : lastLog);
  }

  private endFollowing(): void {
    this.follower?.end();
    this.follower = undefined;
  }

  private async available(): Promise<readonly LoggedEvent[] | null> {
    if (this.log?.ended && this.log.movedAway) {
      this.log = undefined;
      this.due = 'store';
    }
    this.log ??= this.liveLog();
    if (this.log === undefined) return this.fromElsewhere();
    const events = this.log.read(this.cursor, batchEvents);
    if (events === 'behind') return this.catchUp(this.log);
    if (events.length === 0 && this.log.ended) return null;
    return events;
  }

  private async catchUp(log: EventLog): Promise<readonly LoggedEvent[]> {
    const memoryBegins = log.start;
    const events = await this.stored();
    // a recovered run leaves a gap in the indices: nothing is stored there, so continue where memory begins
    if (events.length === 0) this.cursor = Math.max(this.cursor, memoryBegins);
    return events;
  }

  /** Of a run of another process: what is relayed and follows on, or what is stored. */
  private async fromElsewhere(): Promise<readonly LoggedEvent[] | null> {
    const { due, polled, announced } = this;
    if (due === undefined) return [];
    this.due = undefined;
    this.polled = this.announced = false;
    const { relay } = this.sources;
    if (due === 'relay' && relay !== undefined) {
      const { events, isGapless, hasMore } = await relayedEvents(relay, this.runId, this.cursor);
      this.relayed = isGapless && (events.length > 0 || announced || this.relayed);
      if (hasMore) this.due ??= 'relay';
      if (events.length > 0) return this.followsStore ? this.verified(events) : events;
    } else if (!polled) this.relayed = false;
    const events = await this.fromStore();
    if (events === null || events.length === 0) return events;
    this.followsStore = true;
    this.relayed = false;
    // no word came of it
    if (polled) this.follower?.repeat();
    this.due = relay?.isOpen === true ? 'relay' : 'store';
    return events;
  }

  /**
   * A process that lost the run may have relayed events that it never stored. After events of the store, only such are
   * taken from the relay that come after all that is stored.
   */
  private async verified(relayed: readonly LoggedEvent[]): Promise<readonly LoggedEvent[]> {
    const stored = await this.stored();
    this.followsStore = stored.length > 0;
    if (!this.followsStore) return relayed;
    if (stored[0]?.index !== this.cursor) this.relayed = false;
    this.due ??= 'relay';
    return stored;
  }

  private async fromStore(): Promise<readonly LoggedEvent[] | null> {
    const found = await this.stored();
    if (found.length > 0) return found;
    const progress = await this.sources.journal.progress(this.runId);
    const isResting =
      progress === undefined || progress.status === 'paused' || terminalStatuses.has(progress.status);
    if (!isResting) return [];
    // what was stored since the first look: with the end, the events are complete
    const rest = await this.stored();
    if (rest.length > 0) return rest;
    // the last event of a run is stored with its end: the sent events have been removed
    const areGone = terminalStatuses.has(progress?.status ?? 'paused');
    return areGone && this.cursor < (progress?.nextEventIndex ?? 0) ? this.fromJournal() : null;
  }

  private async fromJournal(): Promise<readonly LoggedEvent[] | null> {
    const events = (await this.sources.rebuilt?.(this.runId)) ?? [];
    const missed = events.filter(({ index }) => index >= this.cursor);
    return missed.length > 0 ? missed : null;
  }

  private async stored(): Promise<readonly LoggedEvent[]> {
    const [block] = await this.sources.journal.eventBlocks(this.runId, this.cursor, 1);
    if (block === undefined) return [];
    const events = decodeBlock(
      block.firstIndex,
      block.payload,
      storedTexts(this.sources.journal, this.runId),
    );
    return events.filter((event) => event.index >= this.cursor);
  }

  private lookNow(where: WokenFor): void {
    if (this.due !== 'store') this.due = where;
    this.wake();
  }

  private hear(where: WokenFor): void {
    if (where === 'relay') this.announced = true;
    this.lookNow(where);
  }

  /** A poll for each of many streams is a load: those that the relay serves leave it to the guarantee that polls are. */
  private get pollMs(): number {
    return this.relayed && this.sources.relay?.reachesAll === true ? relayedPollMs : pollMs;
  }

  private poll(): void {
    this.polled = this.due === undefined;
    this.lookNow('store');
  }

  private wait(): Promise<void> {
    const { log } = this;
    if (log === undefined) this.follower ??= this.sources.follow?.(this.runId, (where) => this.hear(where));
    // what happened since `available` looked would no longer wake this reader
    const isChanged = log === undefined ? this.due !== undefined : log.ended || log.hasMore(this.cursor);
    if (this.closed || isChanged) return Promise.resolve();
    return new Promise((resolve) => {
      this.resume = resolve;
      if (log !== undefined) log.onceChanged(this);
      else this.stopPolling = this.sources.timers.after(this.pollMs, () => this.poll());
    });
  }
}

/** The long texts of a stored run, a few parts at a time. */
export function storedTexts(journal: RunJournal, runId: string): TextSource {
  return {
    async *parts(id) {
      for (let from = 0; ; from += partsAtOnce) {
        const parts = await journal.textParts(runId, id, from, partsAtOnce);
        yield* parts;
        if (parts.length < partsAtOnce) return;
      }
    },
  };
}
