import type { Receiver } from '../../../core/async/receiver.js';

/** An event as it goes over the wire. */
export interface StreamEvent {
  /** Its place in the run, sent as `id:`; null for a frame that belongs to no run's order. */
  readonly index: number | null;
  /** Sent as `id:` instead of the index, where a protocol has ids of its own. */
  readonly id?: string;
  /** Sent as `retry:`: how long a client waits before it comes back. */
  readonly retryMs?: number;
  /** Empty for a frame without a name. */
  readonly name: string;
  /** JSON on one line. */
  readonly data: string;
  /** Set for an event that is too long to be held at once: the JSON in pieces, which are sent instead of `data`. */
  readonly pieces?: (() => AsyncIterable<string>) | undefined;
}

/** A cursor over events. A stream asks it for more only when the client took what it has got. */
export interface EventReader {
  /** Everything that is there now, or else waits for the next; null at the end. */
  next(): Promise<readonly StreamEvent[] | null>;
  /** The same without a promise, for readers that may wait for long. Left out: there is only `next`. */
  nextFor?(receiver: Receiver<readonly StreamEvent[] | null>): void;
  /** Called once, when no reader is left. A `next` that waits answers null. */
  close(): void;
}
