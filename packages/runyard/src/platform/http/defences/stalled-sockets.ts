import type { Duplex } from 'node:stream';
import { inNeutralContext } from '../../../core/async/neutral-context.js';
import type { Log } from '../../../core/log.js';

/** How much of what was written has left this process, and whether something waits to. */
interface Outflow {
  readonly taken: number;
  readonly waiting: boolean;
}

/** A socket whose client had data to take at the last look. */
interface Waiting {
  taken: number;
  /**
   * How many looks in a row saw it take nothing of what waits. Looks are counted and not time: while this process is
   * held up itself, no client could take anything.
   */
  silentLooks: number;
}

/** What Node's sockets are made of. It counts what the system has taken of a write that is still in progress. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** How often in each span all are checked. */
const looksPerSpan = 4;
/** Among fewer sockets, it is not worth searching for closed ones. */
const fewSockets = 64;

/**
 * Closes connections whose client takes nothing of what is there for it for a whole span: event streams, long answers
 * and WebSockets alike. A client that takes some of it, however slowly, stays, and so does one for which there is
 * nothing. One timer looks at all of them.
 */
export class StalledSockets {
  /** Null: there was nothing to take at the last look, or there has been no look yet. */
  readonly #watched = new Map<Duplex, Waiting | null>();
  /** How many are watched when `watch` next searches for closed ones. */
  #sweepAt = fewSockets;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly spanMs: number,
    private readonly log: Log,
  ) {}

  /**
   * Watches a socket until it is closed. Another call for the same socket has no effect. No listener waits for the end of
   * the socket: it would double the memory that Node takes for its listeners. Instead, each look forgets the closed sockets,
   * and so does this method once they may be half of all.
   */
  watch(socket: Duplex): void {
    if (this.#watched.has(socket) || socket.destroyed) return;
    if (this.#watched.size >= this.#sweepAt) this.#sweep();
    this.#watched.set(socket, null);
    this.#timer ??= inNeutralContext(() =>
      setInterval(() => this.#look(), this.spanMs / looksPerSpan).unref(),
    );
  }

  #sweep(): void {
    for (const socket of this.#watched.keys()) if (socket.destroyed) this.#watched.delete(socket);
    this.#sweepAt = Math.max(2 * this.#watched.size, fewSockets);
  }

  #look(): void {
    this.#sweep();
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const [socket, before] of this.#watched) {
      const { taken, waiting } = outflowOf(socket);
      if (!waiting) {
        if (before !== null) this.#watched.set(socket, null);
      } else if (before === null) this.#watched.set(socket, { taken, silentLooks: 0 });
      else {
        before.silentLooks = taken > before.taken ? 0 : before.silentLooks + 1;
        before.taken = taken;
        if (before.silentLooks >= looksPerSpan) this.#close(socket);
      }
    }
  }

  #close(socket: Duplex & { readonly remoteAddress?: string }): void {
    const facts = { client: socket.remoteAddress, silent_ms: this.spanMs };
    this.log.info(facts, 'closing a connection: its client does not read (setting slowClientMs)');
    socket.destroy();
  }
}

function outflowOf(socket: Duplex & { _handle?: Partial<Handle> | null }): Outflow {
  const { bytesWritten, writeQueueSize } = socket._handle ?? {};
  const waiting = socket.writableLength > 0;
  // another kind of stream: it is seen to take something when less waits
  if (bytesWritten === undefined || writeQueueSize === undefined)
    return { taken: -socket.writableLength, waiting };
  return { taken: bytesWritten - writeQueueSize, waiting: waiting || writeQueueSize > 0 };
}
