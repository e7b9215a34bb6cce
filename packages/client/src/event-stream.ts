import { hasFiles } from './body.js';
import { isTransient, NetworkError, RunyardError } from './errors.js';
import { type Frame, framesIn } from './sse.js';
import { notTheService, type Request, reached, type Transport } from './transport.js';
import { backOffMs, pause } from './waiting.js';

/** What every event has. */
export interface IndexedEvent {
  readonly event: string;
  readonly event_index: number;
}

export interface StreamOptions {
  /** Ends the stream, not the run. */
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called before each attempt to connect again, with what ended the connection. */
  readonly onReconnect?: (reason: RunyardError | undefined) => void;
  /** Called when the stream is connected, also when no event follows soon. */
  readonly onConnect?: () => void;
}

/** The address of the events of a run or of a job. */
export interface EventSourceAt {
  readonly path: string;
  readonly query?: object | undefined;
}

/**
 * The events of a run or of a job, each once and in their order. When the connection breaks it connects again and asks
 * for what comes after the last event, until the run has ended or waits for an answer. It is read once at a time; a
 * loop that was left can be followed by another, which continues there.
 */
export class EventStream<Event extends IndexedEvent> implements AsyncIterable<Event> {
  protected readonly transport: Transport;
  protected readonly options: StreamOptions;
  readonly #source: EventSourceAt;
  /** The index of the last event that was read; -1 before the first. */
  lastEventIndex: number;
  #ended = false;
  #reading: Promise<void> | undefined;
  #disconnect = () => {};

  constructor(transport: Transport, source: EventSourceAt, options: StreamOptions, lastEventIndex = -1) {
    this.transport = transport;
    this.#source = source;
    this.options = options;
    this.lastEventIndex = lastEventIndex;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    if (this.#reading) throw new Error('The stream is being read already.');
    let release = () => {};
    this.#reading = new Promise((resolve) => {
      release = resolve;
    });
    try {
      yield* this.#events();
    } finally {
      this.#disconnect();
      this.#reading = undefined;
      release();
    }
  }

  /** Reads to the end, after the loop that reads it now. */
  protected async drain(): Promise<void> {
    while (!this.#ended) {
      if (this.#reading) await this.#reading;
      else for await (const _event of this);
    }
  }

  protected get source(): EventSourceAt {
    return this.#source;
  }

  /** Sends what starts the run, if it was not sent; the response may be its stream. */
  protected async begin(): Promise<Response | undefined> {
    return undefined;
  }

  protected isLast({ event }: Event): boolean {
    return /^Job(Completed|Failed|Cancelled)$/.test(event);
  }

  async *#events(): AsyncGenerator<Event, void, undefined> {
    const { signal, onReconnect, onConnect } = this.options;
    signal?.throwIfAborted();
    let response = this.#ended ? undefined : await this.begin();
    let failures = 0;
    let lostAt = 0;
    while (!this.#ended) {
      let failure: RunyardError | undefined;
      try {
        response ??= await this.#open();
        lostAt = 0;
        onConnect?.();
        // there is nothing more to come
        if (response.status === 204) this.#ended = true;
        else
          for await (const event of this.#read(response)) {
            failures = 0;
            yield event;
          }
      } catch (error) {
        if (!isTransient(error, this.transport.reconnectMs)) throw error;
        failure = error;
        lostAt ||= Date.now();
        if (Date.now() - lostAt >= this.transport.reconnectMs) throw error;
      }
      response = undefined;
      if (this.#ended) return;
      await pause(backOffMs(failures, failure), signal);
      failures += 1;
      onReconnect?.(failure);
    }
  }

  /** Ends when the connection does: only after the last event, that is the end of the events. */
  async *#read(response: Response): AsyncGenerator<Event, void, undefined> {
    const { path } = this.source;
    const { signal } = this.options;
    const request = { method: 'GET', path, ...(signal && { signal }) };
    const type = response.headers.get('content-type');
    if (!response.body || !type?.startsWith('text/event-stream'))
      throw await notTheService(request, response);
    const frames = framesIn(response.body, this.transport.silenceMs);
    let isLast = false;
    try {
      for (;;) {
        // events that have come already are not read after an abort either
        signal?.throwIfAborted();
        const { done, value } = await reached(request, () => frames.next());
        if (done) break;
        // without an index: it announces what follows, or says why the connection ends before the events do
        if (value.name === 'error') isLast = false;
        if (value.index === undefined || value.index <= this.lastEventIndex) continue;
        const event = this.#eventIn(value);
        this.lastEventIndex = value.index;
        isLast = this.isLast(event);
        yield event;
      }
      this.#ended = isLast;
    } finally {
      await frames.return(undefined);
    }
  }

  /** A connection that breaks does not end a frame: what cannot be read now cannot be read later either. */
  #eventIn({ index, data }: Frame): Event {
    try {
      const event = JSON.parse(data);
      if (typeof event.event === 'string') return event;
    } catch {}
    throw new RunyardError(`${this.source.path}: event ${index} cannot be read: ${data.slice(0, 100)}`);
  }

  #open(): Promise<Response> {
    const { path, query } = this.source;
    const { headers } = this.options;
    return this.connect({
      method: 'GET',
      path,
      query: { ...query, last_event_index: this.lastEventIndex },
      ...(headers && { headers }),
    });
  }

  /** Sends a request once. One that is not answered is given up, as a connection that is silent. */
  protected async connect(request: Request): Promise<Response> {
    const { method, path, body = {} } = request;
    const { signal } = this.options;
    const { silenceMs } = this.transport;
    const attempt = new AbortController();
    const abort = () => attempt.abort(signal?.reason);
    const onSilence = () =>
      attempt.abort(new NetworkError(`${method} ${path}: no response for ${silenceMs} ms`));
    this.#disconnect();
    this.#disconnect = () => {
      signal?.removeEventListener('abort', abort);
      attempt.abort();
    };
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    return this.transport.open({
      ...request,
      signal: attempt.signal,
      // nobody knows how long files take
      ...(!hasFiles(body) && { onSilence }),
    });
  }
}
