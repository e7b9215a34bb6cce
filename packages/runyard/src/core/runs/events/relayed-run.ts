import type { EventBlock } from '../journal/ports.js';
import type { EventLog } from './event-log.js';
import type { EventRelay } from './event-relay.js';
import { encodeBlock, type LoggedEvent } from './logged-event.js';

const blockEvents = 256;
const blockLength = 128 * 1024;
/** Larger events are left to the store: the relay is a short memory. */
const largestEvent = 64 * 1024;

/**
 * A live run whose events are relayed: one more cursor over its log, so that readers elsewhere see what readers here see,
 * and the end of the run only when it is durable. It sends one block at a time; what is sent meanwhile is the next one.
 */
export class RelayedRun {
  private cursor: number;
  /** Where what was sent last begins. */
  private sentFrom = 0;
  private hasJoined = false;
  private look: (() => void) | undefined;
  /** The index after the last event that was left to the store. */
  private leftUntil = 0;
  private ended = false;

  constructor(
    private readonly runId: string,
    private readonly log: EventLog,
    private readonly relay: EventRelay,
    /** Called once, when nothing is relayed from here on: whether that is because nobody follows the run. */
    private readonly onEnd: (isUnfollowed: boolean) => void,
  ) {
    this.cursor = log.start;
    void this.sendAll();
  }

  /** More of the run is durable. */
  stored(): void {
    if (this.leftUntil === 0 || this.log.storedBelow < this.leftUntil) return;
    this.leftUntil = 0;
    this.relay.wake(this.runId);
  }

  /** One more reader follows: what was sent last may have been sent before it listened, and is sent once more. */
  joined(): void {
    this.hasJoined = true;
    this.look?.();
  }

  private async sendAll(): Promise<void> {
    try {
      for (;;) {
        if (this.hasJoined) this.cursor = Math.min(this.cursor, this.sentFrom);
        this.hasJoined = false;
        const events = this.next();
        if (events.length > 0) {
          this.sentFrom = this.cursor;
          const isFollowed = (await this.send(events)) || this.hasJoined;
          if (!isFollowed) return this.end(this.relay.reachesAll);
        } else if (this.log.ended) {
          // what comes after the last event is in the store: that it was the last one
          this.relay.wake(this.runId);
          return this.end(false);
        } else await this.changed();
      }
    } catch {
      this.end(false);
    }
  }

  private next(): readonly LoggedEvent[] {
    const events = this.log.read(this.cursor, blockEvents);
    if (events !== 'behind') return events;
    this.cursor = this.log.start;
    return this.next();
  }

  /** Whether anybody follows the run. */
  private async send(events: readonly LoggedEvent[]): Promise<boolean> {
    let followers = Number.POSITIVE_INFINITY;
    const last = events.at(-1);
    for (const block of this.blocksOf(events)) followers = await this.relay.send(this.runId, block);
    if (last !== undefined) this.cursor = last.index + 1;
    return followers > 0;
  }

  /** Long texts are in the store alone, and so are large events. */
  private blocksOf(events: readonly LoggedEvent[]): EventBlock[] {
    const blocks: EventBlock[] = [];
    let part: LoggedEvent[] = [];
    let length = 0;
    const finish = () => {
      const [first] = part;
      if (first !== undefined)
        blocks.push({ firstIndex: first.index, count: part.length, payload: encodeBlock(part) });
      part = [];
      length = 0;
    };
    for (const event of events) {
      const isLeft = event.texts !== null || event.data.length > largestEvent;
      if (isLeft || length > blockLength) finish();
      if (isLeft) this.leftUntil = event.index + 1;
      else part.push(event);
      length += event.data.length;
    }
    finish();
    return blocks;
  }

  private changed(): Promise<void> {
    return new Promise((resolve) => {
      const waiter = {
        wake: () => {
          this.log.forget(waiter);
          this.look = undefined;
          resolve();
        },
      };
      this.look = waiter.wake;
      this.log.onceChanged(waiter);
    });
  }

  private end(isUnfollowed: boolean): void {
    if (this.ended) return;
    this.ended = true;
    this.onEnd(isUnfollowed);
  }
}
