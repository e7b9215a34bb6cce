import { codingsOf, decoded } from './content-codings.js';
import type { Dispatcher, DispatchHandler } from './dispatcher.js';
import { IncomingBytes } from './incoming-bytes.js';
import type { AnswerHead, Arriving, Exchange, OutgoingRequest } from './transport.js';

/**
 * Requests through the dispatcher below `fetch`: the same connections, without the objects of the web platform, which
 * cost several times as much as the request itself.
 */
export class DispatchExchange implements Exchange, DispatchHandler {
  readonly head: Promise<AnswerHead>;
  readonly #bytes = new IncomingBytes();
  /** Instead of the bytes as they come, if they are compressed. */
  #decoded: AsyncIterator<Uint8Array> | undefined;
  #resolveHead: (head: AnswerHead) => void = () => {};
  #rejectHead: (reason: unknown) => void = () => {};
  #abort: ((reason?: Error) => void) | undefined;
  #failure: { readonly reason: unknown } | undefined;

  constructor(dispatcher: Dispatcher, { url, headers, body, streamed }: OutgoingRequest) {
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    const { origin, path } = placeOf(url);
    dispatcher.dispatch(
      {
        origin,
        path,
        method: 'POST',
        // A copy: an interceptor of the application may change them.
        headers: { ...allHeadersOf(headers, streamed) },
        body,
        // The caller has its own limits.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  get ended(): boolean {
    return this.#bytes.ended;
  }

  read(): Arriving {
    return this.#decoded === undefined ? this.#bytes.next() : nextOf(this.#decoded);
  }

  abort(reason: unknown): void {
    if (this.#failure !== undefined || this.ended) return;
    this.#fail(reason);
    this.#abort?.();
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort;
    // It was aborted while it waited for a connection.
    if (this.#failure !== undefined) abort();
  }

  onHeaders(status: number, raw: readonly Uint8Array[], resume: () => void, statusText: string): boolean {
    // Informational: the answer follows.
    if (status < 200) return true;
    this.#bytes.resume = resume;
    const codings = codingsOf(headerOf(raw, 'content-encoding'));
    if (codings.length > 0) this.#decoded = decoded(this.#bytes, codings);
    this.#resolveHead({
      status,
      statusText,
      contentType: headerOf(raw, 'content-type'),
      headers: () => allHeaders(raw),
    });
    return true;
  }

  onData(bytes: Uint8Array): boolean {
    return this.#bytes.push(bytes);
  }

  onComplete(): void {
    this.#bytes.end();
  }

  onError(error: Error): void {
    this.#fail(error);
  }

  #fail(reason: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { reason };
    this.#rejectHead(reason);
    this.#bytes.fail(reason);
  }
}

async function nextOf(decoded: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const { done, value } = await decoded.next();
  return done ? undefined : value;
}

interface Place {
  readonly origin: string;
  readonly path: string;
}

const mostPlaces = 100;

/** By address: an application calls the same few again and again. */
const places = new Map<string, Place>();

function placeOf(url: string): Place {
  let place = places.get(url);
  if (place === undefined) {
    const { origin, pathname, search } = new URL(url);
    place = { origin, path: pathname + search };
    if (places.size >= mostPlaces) places.clear();
    places.set(url, place);
  }
  return place;
}

type HeaderFields = OutgoingRequest['headers'];

/** Compressed, every token of a stream would pass through zlib and its threads. */
const streamedHeaders = { accept: '*/*', 'user-agent': 'runyard', 'accept-encoding': 'identity' };
const wholeHeaders = { ...streamedHeaders, 'accept-encoding': 'gzip, deflate, br' };

/** With the usual ones before them, by those that a client sends with each request. */
const completed = {
  streamed: new WeakMap<HeaderFields, HeaderFields>(),
  whole: new WeakMap<HeaderFields, HeaderFields>(),
};

function allHeadersOf(headers: HeaderFields, streamed: boolean): HeaderFields {
  const known = streamed ? completed.streamed : completed.whole;
  let all = known.get(headers);
  if (all === undefined) {
    all = { ...(streamed ? streamedHeaders : wholeHeaders), ...headers };
    known.set(headers, all);
  }
  return all;
}

/** The value of a header in a list of names and values; empty if there is none. */
function headerOf(raw: readonly Uint8Array[], name: string): string {
  let found: string | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    if (raw[index]?.length !== name.length || textOf(raw[index]).toLowerCase() !== name) continue;
    const value = textOf(raw[index + 1]);
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found ?? '';
}

function allHeaders(raw: readonly Uint8Array[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < raw.length; index += 2)
    headers.append(textOf(raw[index]), textOf(raw[index + 1]));
  return headers;
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined
    ? ''
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
