import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/server';
import type {
  ServedRequest,
  ServedRequests,
  StoredEvent,
} from '../../../capabilities/mcp-sessions/service.js';
import { newId } from '../../../core/ids.js';
import type { Log } from '../../../core/log.js';
import type { EventReader, StreamEvent } from '../../../platform/http/response/event-reader.js';

/** A request that is answered within this time is not stored: most are. */
export const keptAfterMs = 250;

/** Notifications beyond that many messages are dropped, so that no handler fills memory and tables. */
const mostMessages = 10_000;

/** How long a client waits before it resumes a stream. */
const retryMs = 1_000;

/** What a request needs of its surroundings. */
export interface RequestSite {
  readonly sessionId: string;
  readonly requests: ServedRequests;
  /** Whether the client knows events without data, which only have an id. */
  readonly takesBareIds: boolean;
  readonly log: Log;
  readonly servedAs: (requestKey: string) => ServedRequest;
}

/** Set for a request that another process began. */
export interface TakenOver {
  readonly requestKey: string;
  readonly runId: string;
  /** The last position that was used. */
  readonly position: number;
}

/**
 * A request in progress, and what is sent for it. At first nothing is stored, and messages have no ids: a client that can
 * resume gets one id when the stream begins. When the request takes longer, asks the client something or loses its
 * client, it is stored; from then on a message is durable before it is sent, with an id that a client can resume from in
 * any process.
 */
export class OpenRequest {
  readonly requestKey: string;
  readonly runId: string;
  readonly isRepeated: boolean;
  readonly #cancelled = new AbortController();
  readonly #events: StoredEvent[] = [];
  /** How many events readers may see. */
  #visible = 0;
  /** The position before the first event. What came before was sent by another process, and is stored. */
  readonly base: number;
  #state: 'plain' | 'storing' | 'stored' = 'plain';
  #answered = false;
  /** Nothing more will be sent here. */
  #ended = false;
  #writing: Promise<void> | undefined;
  /** A client left that can come back. */
  #isLeft = false;
  /** Readers of an earlier one end. */
  #generation = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(
    readonly message: JSONRPCRequest,
    private readonly site: RequestSite,
    taken?: TakenOver,
  ) {
    this.requestKey = taken?.requestKey ?? newId();
    this.runId = taken?.runId ?? newId();
    this.isRepeated = taken !== undefined;
    this.base = taken?.position ?? 0;
    if (taken !== undefined) this.#state = 'stored';
    else {
      this.#timer = setTimeout(() => this.keep(), keptAfterMs);
      this.#timer.unref();
    }
  }

  /** Aborts when the client cancels the request. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  /** Whether its clients get an id when the stream begins: what else they ask for is answered at once. */
  get isResumable(): boolean {
    return this.site.takesBareIds && this.message.method === 'tools/call';
  }

  cancel(reason: unknown): void {
    this.#cancelled.abort(reason);
  }

  /** Sends a message for the request; an answer is the last one. */
  send(message: JSONRPCMessage, isAnswer: boolean): void {
    if (this.#answered || this.#ended) return;
    const asks = 'method' in message && 'id' in message;
    if (!isAnswer && !asks && this.#events.length >= mostMessages) return;
    const position = this.base + this.#events.length + 1;
    this.#events.push({ position, message: JSON.stringify(message) });
    this.#answered = isAnswer;
    if (isAnswer) clearTimeout(this.#timer);
    // the client may take its time to answer, and answer another process
    if (asks && this.#state === 'plain') this.keep();
    if (this.#state === 'plain') this.#show();
    else this.#write();
  }

  /** Ends the streams that are open, once their clients have an id to come back with. The request continues. */
  leaveStreams(): void {
    if (!this.site.takesBareIds) return;
    this.keep();
    this.#generation += 1;
    this.#wake();
  }

  /** Ends the streams without an answer. Clients can resume a stored request elsewhere. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#wake();
  }

  /** Gives the request back, so that any process can continue it. */
  async release(): Promise<void> {
    if (this.isResumable) this.keep();
    await this.#writing;
    this.end();
    await this.site.requests.release(this.requestKey);
  }

  /** Stores the request, so that its stream can be resumed. */
  keep(): void {
    if (this.#state !== 'plain' || this.#answered || this.#ended) return;
    clearTimeout(this.#timer);
    this.#state = 'storing';
    this.#write();
  }

  /** A cursor over what is sent after a position. */
  reader(after = 0): EventReader {
    let next = Math.max(after - this.base, 0);
    const isResumable = this.isResumable;
    let isPrimed = false;
    let closed = false;
    const generation = this.#generation;
    const wakeUp = new Set<() => void>();
    return {
      next: async () => {
        while (!closed) {
          const events: StreamEvent[] = [];
          if (!isPrimed && (isResumable || this.#state === 'stored')) {
            isPrimed = true;
            if (this.site.takesBareIds && !this.#answered) events.push(this.#bareId(this.base + next));
          }
          for (; next < this.#visible; next += 1) events.push(this.#streamed(next));
          if (events.length > 0) return events;
          if (this.#state === 'stored' && generation !== this.#generation) return null;
          if (this.#ended || (this.#answered && next >= this.#events.length)) return null;
          await new Promise<void>((resolve) => {
            this.#waiting.add(resolve);
            wakeUp.add(resolve);
          });
          wakeUp.clear();
        }
        return null;
      },
      close: () => {
        closed = true;
        if (isResumable) this.#leave();
        for (const wake of wakeUp) {
          this.#waiting.delete(wake);
          wake();
        }
      },
    };
  }

  /** What the client has not read is stored, so that it can come back for it. */
  #leave(): void {
    if (this.#answered && this.#state === 'plain') return;
    this.#isLeft = true;
    this.keep();
  }

  #bareId(position: number): StreamEvent {
    return { index: null, id: eventId(this.requestKey, position), retryMs, name: '', data: '' };
  }

  #streamed(index: number): StreamEvent {
    // the reader asks only for events that are there
    const { position, message } = this.#events[index]!;
    const id = this.#state === 'stored' ? { id: eventId(this.requestKey, position) } : {};
    return { index: null, ...id, name: 'message', data: message };
  }

  #show(): void {
    this.#visible = this.#events.length;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Stores what is not stored yet, and shows it then. What comes meanwhile is stored next. */
  #write(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    try {
      // those of one turn of the event loop go together
      await Promise.resolve();
      if (this.#state === 'storing' && this.#answered && !this.#isLeft) {
        // answered just in time
        this.#state = 'plain';
        this.#show();
        return;
      }
      while (!this.#ended && (this.#state === 'storing' || this.#visible < this.#events.length)) {
        const isNew = this.#state === 'storing';
        // the answer completes a request that is stored
        const until = this.#events.length - (isNew && this.#answered ? 1 : 0);
        const isStored = await (isNew ? this.#insert(until) : this.#append(until));
        if (!isStored) {
          this.end();
          return;
        }
        this.#state = 'stored';
        this.#visible = until;
        this.#wake();
      }
    } catch (error) {
      // nobody can resume what is not stored: the client that is there gets its answer all the same
      this.site.log.warn(
        { err: error, session_id: this.site.sessionId },
        'an MCP request could not be stored',
      );
      this.#state = 'plain';
      this.#show();
      this.site.requests.release(this.requestKey).catch(() => {});
    }
  }

  /** All that was sent so far, also what has been shown. */
  #insert(until: number): Promise<boolean> {
    const { message, requestKey, runId } = this;
    const { sessionId, requests, servedAs } = this.site;
    const request = {
      requestKey,
      sessionId,
      messageId: JSON.stringify(message.id),
      message: JSON.stringify(message),
      runId,
    };
    return requests.add(request, this.#events.slice(0, until), servedAs(requestKey));
  }

  #append(until: number): Promise<boolean> {
    const isLast = this.#answered && until === this.#events.length;
    return this.site.requests.append(this.requestKey, this.#events.slice(this.#visible, until), isLast);
  }
}

/** The id of an event: the request, and its position there. */
export function eventId(requestKey: string, position: number): string {
  return `${requestKey}_${position}`;
}

export interface EventPlace {
  readonly requestKey: string;
  readonly position: number;
}

/** What the id of an event refers to; undefined for a text that is no such id. */
export function eventPlaceOf(id: string): EventPlace | undefined {
  const [, requestKey, position] = /^([\da-f-]{36})_(\d{1,9})$/.exec(id) ?? [];
  return requestKey === undefined ? undefined : { requestKey, position: Number(position) };
}
