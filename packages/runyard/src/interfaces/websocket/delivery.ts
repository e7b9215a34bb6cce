import { setImmediate } from 'node:timers/promises';
import type { EventReader, StreamEvent } from '../../platform/http/sse.js';
import type { Outlet } from './outlet.js';
import type { EventFormat } from './server-frame.js';

/** How much is handed to the socket at once. A slow client is seen to read whenever it has taken one portion. */
const portionSize = 65_536;

/** Brings the events of one run to one connection: a cursor in the run's log, and no buffer of its own. */
export class Delivery {
  #stopped = false;

  constructor(
    private readonly reader: EventReader,
    private readonly format: EventFormat,
    private readonly outlet: Outlet,
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
      await this.outlet.room();
      const events = this.#stopped ? null : await this.reader.next();
      if (events === null) return;
      for (const some of portions(events)) {
        await this.outlet.room();
        if (this.#stopped) return;
        this.outlet.send(some.map(this.format));
        this.lastIndex = some.findLast(({ index }) => index !== null)?.index ?? this.lastIndex;
      }
      // what comes up in the same turn goes out in one write
      await setImmediate();
    }
  }
}

/** The events in their order, cut so that each part has about the size of a portion. */
function* portions(events: readonly StreamEvent[]): Generator<readonly StreamEvent[]> {
  let from = 0;
  let size = 0;
  for (const [at, { data }] of events.entries()) {
    size += data.length;
    if (size < portionSize && at < events.length - 1) continue;
    yield events.slice(from, at + 1);
    from = at + 1;
    size = 0;
  }
}
