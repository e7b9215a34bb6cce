import { terminalStatuses } from '../run.js';
import type { WokenFor } from './event-relay.js';
import type { EventSources } from './event-sources.js';
import type { Follower } from './following.js';
import type { LoggedEvent } from './logged-event.js';
import { relayedEvents } from './relayed-events.js';
import { storedEvents } from './stored-events.js';

/** How often a run that another process executes is polled: usually, and while its events come without gaps anyway. */
const pollMs = 200;
const relayedPollMs = 2_000;

/** Finds the events of a run that is not live in this process for one reader: in the relay, or in the store. */
export class EventsElsewhere {
  private follower: Follower | undefined;
  private endPolling: (() => void) | null = null;
  /** Where more may be. */
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
    private readonly runId: string,
    private readonly wake: () => void,
  ) {}

  /** Whether there may be more than the last look found. */
  get isDue(): boolean {
    return this.due !== undefined;
  }

  /** The events from this index on; null at the end of the run. */
  async from(cursor: number): Promise<readonly LoggedEvent[] | null> {
    const { due, polled, announced } = this;
    if (due === undefined) return [];
    this.due = undefined;
    this.polled = this.announced = false;
    const { relay } = this.sources;
    if (due === 'relay' && relay !== undefined) {
      const { events, isGapless, hasMore } = await relayedEvents(relay, this.runId, cursor);
      this.relayed = isGapless && (events.length > 0 || announced || this.relayed);
      if (hasMore) this.due ??= 'relay';
      if (events.length > 0) return this.followsStore ? this.verified(events, cursor) : events;
    } else if (!polled) this.relayed = false;
    const events = await this.fromStore(cursor);
    if (events === null || events.length === 0) return events;
    this.followsStore = true;
    this.relayed = false;
    // no hint announced them
    if (polled) this.follower?.repeat();
    this.due = relay?.isOpen === true ? 'relay' : 'store';
    return events;
  }

  /** The next look goes to the store: the run was live in this process until now. */
  lookIntoStore(): void {
    this.due = 'store';
  }

  follow(): void {
    this.follower ??= this.sources.follow?.(this.runId, (where) => this.woken(where));
  }

  endFollowing(): void {
    this.follower?.end();
    this.follower = undefined;
  }

  startPolling(): void {
    this.endPolling = this.sources.timers.after(this.pollMs, () => this.poll());
  }

  stopPolling(): void {
    this.endPolling?.();
    this.endPolling = null;
  }

  /**
   * A process that lost the run may have relayed events that it never stored. After events of the store, only such are
   * taken from the relay that come after all that is stored.
   */
  private async verified(relayed: readonly LoggedEvent[], cursor: number): Promise<readonly LoggedEvent[]> {
    const stored = await this.stored(cursor);
    this.followsStore = stored.length > 0;
    if (!this.followsStore) return relayed;
    if (stored[0]?.index !== cursor) this.relayed = false;
    this.due ??= 'relay';
    return stored;
  }

  private async fromStore(cursor: number): Promise<readonly LoggedEvent[] | null> {
    const found = await this.stored(cursor);
    if (found.length > 0) return found;
    const progress = await this.sources.journal.progress(this.runId);
    const isResting =
      progress === undefined || progress.status === 'paused' || terminalStatuses.has(progress.status);
    if (!isResting) return [];
    // what was stored since the first look: with the end, the events are complete
    const rest = await this.stored(cursor);
    if (rest.length > 0) return rest;
    // the last event of a run is stored with its end: the sent events have been removed
    const areGone = terminalStatuses.has(progress?.status ?? 'paused');
    return areGone && cursor < (progress?.nextEventIndex ?? 0) ? this.rebuilt(cursor) : null;
  }

  private stored(cursor: number): Promise<readonly LoggedEvent[]> {
    return storedEvents(this.sources.journal, this.runId, cursor);
  }

  private async rebuilt(cursor: number): Promise<readonly LoggedEvent[] | null> {
    const events = (await this.sources.rebuilt?.(this.runId)) ?? [];
    const missed = events.filter(({ index }) => index >= cursor);
    return missed.length > 0 ? missed : null;
  }

  private woken(where: WokenFor): void {
    if (where === 'relay') this.announced = true;
    this.lookNow(where);
  }

  private poll(): void {
    this.polled = this.due === undefined;
    this.lookNow('store');
  }

  private lookNow(where: WokenFor): void {
    if (this.due !== 'store') this.due = where;
    this.wake();
  }

  /** A poll for each of many streams is a load: those that the relay serves leave it to the guarantee that polls are. */
  private get pollMs(): number {
    return this.relayed && this.sources.relay?.reachesAll === true ? relayedPollMs : pollMs;
  }
}
