import { deliver, promised, type Receiver } from '../../async/receiver.js';
import type { EventLog, Waiter } from './event-log.js';
import type { EventSources } from './event-sources.js';
import { EventsElsewhere } from './events-elsewhere.js';
import type { LoggedEvent } from './logged-event.js';
import { storedEvents } from './stored-events.js';

const batchEvents = 512;

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
  private closedListener: (() => void) | null = null;
  /** Null while the run has only been live in this process. */
  private elsewhere: EventsElsewhere | null = null;

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
    this.elsewhere?.endFollowing();
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
    this.elsewhere?.stopPolling();
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
      this.elsewhere?.endFollowing();
      throw error;
    }
    this.elsewhere?.endFollowing();
    return null;
  }

  private liveLog(): EventLog | undefined {
    const { lastLog } = this;
    return this.sources.liveLog(this.runId) ?? (lastLog?.movedAway ? undefined : lastLog);
  }

  private async available(): Promise<readonly LoggedEvent[] | null> {
    if (this.log?.ended && this.log.movedAway) {
      this.log = undefined;
      this.elsewhere?.lookIntoStore();
    }
    this.log ??= this.liveLog();
    if (this.log === undefined) {
      this.elsewhere ??= new EventsElsewhere(this.sources, this.runId, () => this.wake());
      return this.elsewhere.from(this.cursor);
    }
    const events = this.log.read(this.cursor, batchEvents);
    if (events === 'behind') return this.catchUp(this.log);
    if (events.length === 0 && this.log.ended) return null;
    return events;
  }

  private async catchUp(log: EventLog): Promise<readonly LoggedEvent[]> {
    const memoryBegins = log.start;
    const events = await storedEvents(this.sources.journal, this.runId, this.cursor);
    // a recovered run leaves a gap in the indices: nothing is stored there, so continue where memory begins
    if (events.length === 0) this.cursor = Math.max(this.cursor, memoryBegins);
    return events;
  }

  private wait(): Promise<void> {
    const { log, elsewhere } = this;
    if (log === undefined) elsewhere?.follow();
    // what happened since `available` looked would no longer wake this reader
    const isChanged = log === undefined ? elsewhere?.isDue : log.ended || log.hasMore(this.cursor);
    if (this.closed || isChanged) return Promise.resolve();
    return new Promise((resolve) => {
      this.resume = resolve;
      if (log !== undefined) log.onceChanged(this);
      else elsewhere?.startPolling();
    });
  }
}
