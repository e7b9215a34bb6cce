import type { ServedRequests } from '../../../capabilities/mcp-sessions/service.js';
import type { EventReader, StreamEvent } from '../../../platform/http/response/event-reader.js';
import { isRequest } from '../messages.js';
import type { Asker, LiveSession } from './live-session.js';
import { type EventPlace, eventId } from './open-request.js';

/**
 * The rest of the stream of a request: what was stored after a position, then what comes. The request may be served
 * here or in another process; if that is gone, it is dispatched again here.
 */
export class ResumedStream implements EventReader {
  #position: number;
  #closed = false;
  #wake: (() => void) | undefined;
  /** The request is served here. */
  #local: EventReader | undefined;

  constructor(
    private readonly requests: ServedRequests,
    private readonly live: LiveSession,
    private readonly asker: Asker,
    private readonly place: EventPlace,
  ) {
    this.#position = place.position;
  }

  async next(): Promise<readonly StreamEvent[] | null> {
    while (!this.#closed) {
      if (this.#local !== undefined) return this.#local.next();
      const found = await this.#look();
      if (found !== undefined) return found;
    }
    return null;
  }

  close(): void {
    this.#closed = true;
    this.#local?.close();
    this.#wake?.();
  }

  /** Everything that is stored by now; null at the end; undefined when there is nothing new. */
  async #look(): Promise<readonly StreamEvent[] | null | undefined> {
    const { requestKey } = this.place;
    const local = this.live.resumable(requestKey);
    if (local !== undefined && this.#position >= local.base) {
      this.#local = local.reader(this.#position);
      return undefined;
    }
    // before the events are read: what was answered by then is stored by then
    const request = await this.requests.find(requestKey, this.live.sessionId);
    const events = await this.#stored(request?.leaseOwner !== null);
    if (events.length > 0) return events;
    if (request === undefined || request.answered) return null;
    const taken = await this.live.takeOver(request, this.asker);
    if (taken === undefined) await this.#changed(requestKey);
    else this.#local = taken.reader(this.#position);
    return undefined;
  }

  /** What a process that is gone asked the client is not asked again: it would not receive the answer. */
  async #stored(isServed: boolean): Promise<StreamEvent[]> {
    const { requestKey } = this.place;
    for (;;) {
      const events = await this.requests.events(requestKey, this.#position);
      if (events.length === 0) return [];
      this.#position = events.at(-1)?.position ?? this.#position;
      const sent = events.filter(({ message }) => isServed || !isRequest(JSON.parse(message)));
      if (sent.length > 0)
        return sent.map(({ position, message }) => ({
          index: null,
          id: eventId(requestKey, position),
          name: 'message',
          data: message,
        }));
    }
  }

  /** Waits until the request may have progressed. */
  async #changed(requestKey: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const stop = this.requests.watch(requestKey, () => this.#wake?.());
      this.#wake = () => {
        stop();
        this.#wake = undefined;
        resolve();
      };
      if (this.#closed) this.#wake();
    });
  }
}
