import type { Duplex } from 'node:stream';
import type { Log } from '../../../core/log.js';

/** How much of what was written has left this process, and whether something waits to. */
interface Outflow {
  taken: number;
  waiting: boolean;
}

interface Watched extends Outflow {
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

/**
 * Closes connections whose client takes nothing of what is there for it for a whole span: event streams, long answers
 * and WebSockets alike. A client that takes some of it, however slowly, stays, and so does one for which there is
 * nothing. One timer looks at all of them.
 */
export class StalledSockets {
  readonly #watched = new Map<Duplex, Watched>();
  /** One for all sockets, which Node calls on the socket. */
  readonly #onClose: (this: Duplex) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly spanMs: number,
    private readonly log: Log,
  ) {
    const forget = (socket: Duplex) => this.#forget(socket);
    this.#onClose = function () {
      forget(this);
    };
  }

  /** From now until it is closed. To say it again for the same one changes nothing. */
  watch(socket: Duplex): void {
    if (this.#watched.has(socket) || socket.destroyed) return;
    // no spread: it would give each of these objects a hidden class of its own
    const { taken, waiting } = outflowOf(socket);
    this.#watched.set(socket, { taken, waiting, silentLooks: 0 });
    socket.on('close', this.#onClose);
    this.#timer ??= setInterval(() => this.#look(), this.spanMs / looksPerSpan).unref();
  }

  #forget(socket: Duplex): void {
    this.#watched.delete(socket);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    for (const [socket, watched] of this.#watched) {
      const { taken, waiting } = outflowOf(socket);
      const isSilent = waiting && watched.waiting && taken <= watched.taken;
      watched.taken = taken;
      watched.waiting = waiting;
      watched.silentLooks = isSilent ? watched.silentLooks + 1 : 0;
      if (watched.silentLooks >= looksPerSpan) this.#close(socket);
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
