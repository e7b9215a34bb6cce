import type { EventBlock } from '../journal/ports.js';
import { encodeBlock, type LoggedEvent } from './logged-event.js';

/** How much of what is already stored a live run keeps in memory for its readers. */
const keptBytes = 64 * 1024;
/** Unstored events beyond either of these ask the producer to wait for storage. */
const congestedBytes = 1024 * 1024;
const congestedEvents = 5_000;
/** A run whose application code does not wait is ended when this much of what it sent is not stored. */
export const maxUnstoredBytes = 16 * 1024 * 1024;
/**
 * How far readers see beyond what is stored. A run that is taken over after a crash numbers its events from behind this
 * distance on: so no index is shown twice, however much was sent and not stored.
 */
export const indexGap = 10_000;

const fewEvents = 4;

/** What is to be woken when a log has something new. */
export interface Waiter {
  wake(): void;
}

/**
 * The events of one live run. It knows nothing of its readers: each has a cursor of its own and asks. What is
 * stored and old is dropped from memory, so a slow or dead reader costs nothing; it is sent to the store.
 */
export class EventLog {
  private events: LoggedEvent[] = [];
  private bytes = 0;
  private unstoredBytes = 0;
  private nextUnstored: number;
  private storedUntil: number;
  /** Null while none is hidden. */
  private heldFrom: number | null = null;
  /** One alone is kept without a set: most runs have one reader. */
  private waiting: Waiter | Set<Waiter> | null = null;
  private closed = false;
  private elsewhere = false;
  /** The keys of all events; null while these are few, and all in memory. */
  private keys: Set<string> | null = null;

  /** Indices from `firstIndex` on are (or will be) in this log, earlier ones are in the store. */
  constructor(private firstIndex: number) {
    this.nextUnstored = firstIndex;
    this.storedUntil = firstIndex;
  }

  get nextIndex(): number {
    return this.firstIndex + this.events.length;
  }

  /** Readers are shown what has a lower index. */
  get visibleUntil(): number {
    return Math.min(this.heldFrom ?? this.nextIndex, this.storedUntil + indexGap);
  }

  /** What has a lower index is durable. */
  get storedBelow(): number {
    return this.storedUntil;
  }

  get ended(): boolean {
    return this.closed;
  }

  get congested(): boolean {
    return this.unstoredBytes > congestedBytes || this.nextIndex - this.storedUntil > congestedEvents;
  }

  /** Whether more is waiting to be stored than memory should hold. */
  get overflowing(): boolean {
    return this.unstoredBytes > maxUnstoredBytes;
  }

  /** Whether an event with this key was appended. A key that cannot come again may be forgotten. */
  has(key: string): boolean {
    return this.keys === null ? this.events.some((event) => event.key === key) : this.keys.has(key);
  }

  append(event: LoggedEvent): void {
    if (this.events.length >= fewEvents) this.keys ??= keysOf(this.events);
    // also when few are left in memory, because the others are stored and dropped
    if (this.keys !== null && mayComeAgain(event)) this.keys.add(event.key);
    // a list that grows has room for more events than a silent run has
    if (this.events.length < fewEvents) this.events = this.events.concat(event);
    else this.events.push(event);
    this.bytes += event.size;
    this.unstoredBytes += event.size;
    this.notify();
  }

  /** Hides what is appended from now on until `release`: a final event is shown only when its run is stored. */
  hold(): void {
    this.heldFrom = this.nextIndex;
  }

  release(): void {
    this.heldFrom = null;
    this.notify();
  }

  /** The run continues in another process: its next events are not in this log. */
  moveAway(): void {
    this.elsewhere = true;
  }

  get movedAway(): boolean {
    return this.elsewhere;
  }

  end(): void {
    this.closed = true;
    this.notify();
  }

  /** What a reader at `index` may see now; `behind` when the store has to answer. */
  read(index: number, limit: number): readonly LoggedEvent[] | 'behind' {
    if (index < this.firstIndex) return 'behind';
    const end = Math.min(this.visibleUntil, index + limit);
    return this.events.slice(index - this.firstIndex, Math.max(end - this.firstIndex, 0));
  }

  /** Whether a reader at `index` has something to read, here or in the store. */
  hasMore(index: number): boolean {
    return index < Math.max(this.firstIndex, this.visibleUntil);
  }

  /** The first index that is still in memory. */
  get start(): number {
    return this.firstIndex;
  }

  /** Wakes it once, when there may be something new to read. */
  onceChanged(waiter: Waiter): void {
    const { waiting } = this;
    if (waiting === null || waiting === waiter) this.waiting = waiter;
    else if (waiting instanceof Set) waiting.add(waiter);
    else this.waiting = new Set([waiting, waiter]);
  }

  forget(waiter: Waiter): void {
    if (this.waiting === waiter) this.waiting = null;
    else if (this.waiting instanceof Set) this.waiting.delete(waiter);
  }

  /** Everything that is not stored yet, as one block. `stored`: an event as it is stored. */
  takeUnstored(stored?: (event: LoggedEvent) => LoggedEvent): EventBlock | undefined {
    const count = this.nextIndex - this.nextUnstored;
    if (count === 0) return undefined;
    const events = this.events.slice(this.nextUnstored - this.firstIndex);
    const payload = encodeBlock(stored === undefined ? events : events.map(stored));
    const block = { firstIndex: this.nextUnstored, count, payload };
    this.nextUnstored = this.nextIndex;
    return block;
  }

  /** Everything below `index` is durable: the oldest may be dropped. */
  stored(index: number): void {
    const hidden = this.visibleUntil < (this.heldFrom ?? this.nextIndex);
    this.storedUntil = index;
    let drop = 0;
    let unstored = 0;
    for (const { size } of this.events) {
      if (this.bytes <= keptBytes || this.firstIndex + drop >= index) break;
      this.bytes -= size;
      drop += 1;
    }
    if (drop > 0) {
      this.keys ??= keysOf(this.events);
      this.events.splice(0, drop);
      this.firstIndex += drop;
    }
    for (let position = index - this.firstIndex; position < this.events.length; position += 1) {
      unstored += this.events[position]?.size ?? 0;
    }
    this.unstoredBytes = unstored;
    if (hidden) this.notify();
  }

  private notify(): void {
    const { waiting } = this;
    if (waiting === null) return;
    this.waiting = null;
    if (waiting instanceof Set) for (const waiter of waiting) waiter.wake();
    else waiting.wake();
  }
}

function keysOf(events: readonly LoggedEvent[]): Set<string> {
  return new Set(events.filter(mayComeAgain).map(({ key }) => key));
}

/** The key of an application's event, or of a progress, contains a number of its own: it never comes again. */
function mayComeAgain(event: LoggedEvent): event is LoggedEvent & { readonly key: string } {
  return event.key !== null && event.name !== 'CustomEvent' && event.name !== 'JobProgress';
}
