import { setImmediate } from 'node:timers/promises';
import type { EventReader, StreamEvent } from '../../platform/http/response/event-reader.js';
import type { SendQueue } from './send-queue.js';
import type { EventFormat } from './server-frame.js';

/** How much is handed to the socket at once. A slow client is seen to read whenever it has taken one portion. */
const portionSize = 65_536;

/** Brings the events of one run to one connection: a cursor in the run's log, and no buffer of its own. */
export class Delivery {
  #stopped = false;

  constructor(
    private readonly reader: EventReader,
    private readonly format: EventFormat,
    private readonly sendQueue: SendQueue,
    /** The index of the last event that was sent, by this one or the one before; -1 before the first. */
    public lastIndex = -1,
  ) {}

  /** Ends it at once: not one more event is sent. */
  stop(): void {
    this.#stopped = true;
    this.reader.close();
  }

  /** Settles at the end of the run or of its present life, or when it is stopped. */
  async run(): Promise<void> {
    for (;;) {
      await this.sendQueue.room();
      const events = this.#stopped ? null : await this.reader.next();
      if (events === null) return;
      for (const some of portions(events)) {
        await this.sendQueue.room();
        if (this.#stopped) return;
        if (some[0]?.pieces === undefined) this.sendQueue.send(some.map(this.format));
        else await this.sendQueue.sendPieces(this.#longEvent(some[0], some[0].pieces()));
        this.lastIndex = some.findLast(({ index }) => index !== null)?.index ?? this.lastIndex;
      }
      // events of the same turn are sent in one write
      await setImmediate();
    }
  }

  /** What stands around the data is the same for data of any length. */
  async *#longEvent(event: StreamEvent, pieces: AsyncIterable<string>): AsyncGenerator<string> {
    const [before = '', after = ''] = this.format({ ...event, data: '\0' }).split('\0');
    yield before;
    yield* pieces;
    yield after;
  }
}

/** The events in their order, cut so that each part has about the size of a portion, and a long event is its own. */
function* portions(events: readonly StreamEvent[]): Generator<readonly StreamEvent[]> {
  let from = 0;
  let size = 0;
  for (const [at, { data, pieces }] of events.entries()) {
    size += data.length;
    const ends = pieces !== undefined || events[at + 1]?.pieces !== undefined || at === events.length - 1;
    if (size < portionSize && !ends) continue;
    yield events.slice(from, at + 1);
    from = at + 1;
    size = 0;
  }
}
