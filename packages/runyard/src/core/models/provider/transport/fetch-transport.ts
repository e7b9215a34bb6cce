import type { AnswerHead, Exchange, OutgoingRequest, Transport } from './transport.js';

/** Requests through a `fetch`: that of the application, or the global one where it has replaced Node's. */
export function fetchTransport(fetch: typeof globalThis.fetch): Transport {
  return (request) => new FetchExchange(fetch, request);
}

class FetchExchange implements Exchange {
  readonly head: Promise<AnswerHead>;
  ended = false;
  readonly #controller = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(fetch: typeof globalThis.fetch, request: OutgoingRequest) {
    this.head = this.#send(fetch, request);
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.ended || this.#reader === undefined) return undefined;
    const { done, value } = await this.#reader.read();
    if (done) this.ended = true;
    return value;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  async #send(fetch: typeof globalThis.fetch, { url, headers, body }: OutgoingRequest): Promise<AnswerHead> {
    const { signal } = this.#controller;
    // A redirect would carry the key to another host.
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    this.#reader = response.body?.getReader();
    this.ended = this.#reader === undefined;
    return {
      status: response.status,
      statusText: response.statusText,
      contentType: response.headers.get('content-type') ?? '',
      headers: () => response.headers,
    };
  }
}
