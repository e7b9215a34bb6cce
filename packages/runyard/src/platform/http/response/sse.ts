import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { inNeutralContext } from '../../../core/async/neutral-context.js';
import { deliver, type Receiver } from '../../../core/async/receiver.js';
import { TransientMap } from '../../../core/collections/transient-map.js';
import { isReported, type RunyardError } from '../../../core/errors/errors.js';
import { type Exchange, exchangeOf, type ResponseStream } from '../exchange.js';
import type { EventReader, StreamEvent } from './event-reader.js';
import { headerList } from './respond.js';

/** Why the client of a stream may no longer read it; undefined while it may. */
export type Objection = () => Promise<RunyardError | undefined>;

const heartbeat = ': heartbeat\n\n';
/** Silence is measured in ticks of one timer that all streams share. */
const ticksPerHeartbeat = 15;
/** How often to check whether the client of a stream may still read it. */
const objectionMs = 5_000;

/** All open event streams of a server. */
export class EventStreams {
  readonly #open = new TransientMap<OpenStream, true>();
  readonly #tickMs: number;
  readonly #silentTicks: number;
  /** How many ticks lie between two looks at whether a client may still read. */
  readonly objectionTicks: number;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;

  constructor(heartbeatMs: number) {
    this.#tickMs = Math.min(Math.max(1, heartbeatMs / ticksPerHeartbeat), objectionMs);
    this.#silentTicks = Math.ceil(heartbeatMs / this.#tickMs);
    this.objectionTicks = Math.ceil(objectionMs / this.#tickMs);
  }

  get size(): number {
    return this.#open.size;
  }

  /** The tick that it is now; cheaper than asking for the time at each write. */
  get ticks(): number {
    return this.#ticks;
  }

  add(stream: OpenStream): void {
    this.#open.set(stream, true);
    this.#timer ??= inNeutralContext(() => setInterval(() => this.#tick(), this.#tickMs).unref());
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams the way a finished one ends, so that clients see a clean end and can resume. */
  endAll(): void {
    for (const stream of this.#open.keys()) stream.end();
  }

  #tick(): void {
    this.#ticks++;
    for (const stream of this.#open.keys()) {
      stream.beat(this.#ticks - this.#silentTicks);
      stream.look();
    }
  }
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Answers a request with the events of a source. Returns at once; the stream lives on its own. */
export function writeEventStream(
  exchange: Exchange,
  source: EventReader,
  streams: EventStreams,
  extraHeaders?: Readonly<Record<string, string>>,
  objection?: Objection,
): void {
  const { request, response } = exchange;
  if (response.destroyed) {
    source.close();
    return;
  }
  // An unread body would keep the request incomplete, and the server's request timer running.
  if (!request.complete) request.resume();
  const headers = headerList(exchange, { ...extraHeaders, ...streamHeaders });
  response.writeHead(200, headers);
  exchange.count();
  new OpenStream(exchange, source, streams, objection).start();
}

/**
 * One reader's stream. It keeps nothing but a cursor: no request, no body, no buffer of its own. What the
 * client has not taken yet stays in the shared log behind the reader. It writes in the async context of
 * its own request, whichever request caused the event.
 */
class OpenStream extends AsyncResource implements ResponseStream, Receiver<readonly StreamEvent[] | null> {
  readonly #response: ServerResponse;
  #lastWrite: number;
  #lookAt: number;
  #wrote = false;
  #ended = false;
  /** A frame has begun, and its end is not written yet. */
  #midFrame = false;
  /** Continues the stream when the client has taken what was sent, or is gone. */
  #wake: (() => void) | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly source: EventReader,
    private readonly streams: EventStreams,
    private readonly objection: Objection | undefined,
  ) {
    super('EventStream');
    this.#response = exchange.response;
    this.#lastWrite = streams.ticks;
    this.#lookAt = streams.ticks + streams.objectionTicks;
  }

  start(): void {
    this.streams.add(this);
    this.exchange.stream = this;
    this.#response.on('error', released);
    // Events that are there already travel in the same packet as the headers; otherwise the headers go alone.
    setImmediate(() => {
      if (!this.#wrote && !this.#ended) this.#response.flushHeaders();
    });
    this.#next();
  }

  /** Ends the stream cleanly, whatever its source would still say. */
  end(): void {
    if (this.#ended) return;
    this.release();
    // a frame that breaks off must not look like one that ends
    if (this.#midFrame) this.#response.destroy();
    else this.#response.end();
  }

  /** Gives a sign of life if nothing was written since the given tick. */
  beat(before: number): void {
    if (this.#lastWrite > before || this.#response.writableNeedDrain || this.#midFrame) return;
    this.#write(heartbeat);
  }

  /** Ends the stream, with an event that says why, if its client may not read it any longer. */
  look(): void {
    if (this.objection === undefined || this.streams.ticks < this.#lookAt) return;
    this.#lookAt = Number.POSITIVE_INFINITY;
    this.objection().then(
      (error) => {
        this.#lookAt = this.streams.ticks + this.streams.objectionTicks;
        if (error !== undefined) this.#refuse(error);
      },
      (error) => this.failed(error),
    );
  }

  #refuse({ detail, code }: RunyardError): void {
    if (this.#ended) return;
    const data = JSON.stringify({ event: 'error', error: detail, error_code: code });
    if (!this.#midFrame) this.#write(frameOf({ index: null, name: 'error', data }));
    this.end();
  }

  /** Waits for the next events: a stream is idle most of its life, and a promise would take memory with it. */
  #next(): void {
    try {
      if (this.source.nextFor !== undefined) this.source.nextFor(this);
      else deliver(this.source.next(), this);
    } catch (error) {
      this.failed(error);
    }
  }

  received(events: readonly StreamEvent[] | null): void {
    if (!this.#ended) void this.runInAsyncScope(() => this.#send(events));
  }

  async #send(events: readonly StreamEvent[] | null): Promise<void> {
    if (events === null) {
      this.end();
      return;
    }
    try {
      await (events.some(isLong) ? this.#writeEvents(events) : this.#taken(joinFrames(events)));
    } catch (error) {
      this.failed(error);
      return;
    }
    if (!this.#ended) this.#next();
  }

  async #writeEvents(events: readonly StreamEvent[]): Promise<void> {
    let short: StreamEvent[] = [];
    for (const event of events) {
      if (event.pieces === undefined) short.push(event);
      else {
        if (short.length > 0) await this.#taken(joinFrames(short));
        short = [];
        await this.#writeLong(event, event.pieces());
      }
      if (this.#ended) return;
    }
    if (short.length > 0) await this.#taken(joinFrames(short));
  }

  async #writeLong(event: StreamEvent, pieces: AsyncIterable<string>): Promise<void> {
    this.#midFrame = true;
    await this.#taken(frameStart(event));
    for await (const piece of pieces) {
      if (this.#ended) return;
      await this.#taken(piece);
    }
    if (this.#ended) return;
    this.#midFrame = false;
    await this.#taken(frameEnd);
  }

  /** Writes, and waits until the client has taken it or others have had their turn. */
  #taken(text: string): Promise<void> {
    return this.#write(text) ? endOfTick() : this.#drained();
  }

  #write(text: string): boolean {
    this.#lastWrite = this.streams.ticks;
    if (this.#wrote) return this.#response.write(text);
    this.#wrote = true;
    return this.#writeFirst(text);
  }

  /**
   * Writes the headers as a separate string in the same packet. Node keeps them as long as the response; prepended to
   * the body, they would stay a rope of the hundred strings that they were concatenated from.
   */
  #writeFirst(text: string): boolean {
    this.#response.cork();
    this.#response.flushHeaders();
    const isTaken = this.#response.write(text);
    this.#response.uncork();
    return isTaken;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#ended) this.resume();
      else this.#response.once('drain', resumed);
    });
  }

  resume(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  failed(error: unknown): void {
    if (this.#ended) return;
    if (!isReported(error))
      this.exchange.log.error({ request_id: this.exchange.requestId, err: error }, 'event stream failed');
    this.release();
    // Not a clean end: the client must be able to see that something is missing, and resume.
    this.#response.destroy();
  }

  release(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.streams.delete(this);
    this.resume();
    try {
      this.source.close();
    } catch (error) {
      this.exchange.log.error(
        { request_id: this.exchange.requestId, err: error },
        'closing an event source failed',
      );
    }
  }
}

// One for all streams: Node calls them on the response.
function released(this: ServerResponse): void {
  exchangeOf(this).stream?.release();
}

function resumed(this: ServerResponse): void {
  exchangeOf(this).stream?.resume();
}

function isLong({ pieces }: StreamEvent): boolean {
  return pieces !== undefined;
}

function joinFrames(events: readonly StreamEvent[]): string {
  let frames = '';
  for (const event of events) frames += frameOf(event);
  return frames;
}

function frameOf(event: StreamEvent): string {
  return frameStart(event) + event.data + frameEnd;
}

function frameStart({ index, id, retryMs, name }: StreamEvent): string {
  const shown = id ?? index;
  // most frames; each step of putting it together would be a text of its own
  if (shown !== null && retryMs === undefined && name !== '') return `id: ${shown}\nevent: ${name}\ndata: `;
  const idLine = shown === null ? '' : `id: ${shown}\n`;
  if (retryMs !== undefined) return `${idLine}retry: ${retryMs}\ndata: `;
  const nameLine = name === '' ? '' : `event: ${name}\n`;
  return `${idLine}${nameLine}data: `;
}

const frameEnd = '\n\n';

let tickEnd: Promise<void> | undefined;

/**
 * Resolves at the end of this turn of the event loop, with one timer for all streams. Events that come up
 * until then gather in the shared log and then go out in one write.
 */
function endOfTick(): Promise<void> {
  tickEnd ??= new Promise((resolve) => {
    setImmediate(() => {
      tickEnd = undefined;
      resolve();
    });
  });
  return tickEnd;
}
