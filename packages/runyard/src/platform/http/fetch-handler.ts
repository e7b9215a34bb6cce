import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { NodeHandler } from './handler.js';

/** A handler of web-standard requests; `Host` is what its server passes beside the request. */
export type FetchHandler<Host extends readonly unknown[] = []> = (
  request: Request,
  ...host: Host
) => Promise<Response>;

export interface FetchHandlerOptions<Host extends readonly unknown[]> {
  /** Everything under it is served, and it is taken off before routing. */
  readonly basePath?: string;
  /** The address that a request comes from, which only its server knows. Left out: all come from the same place. */
  readonly clientAddress?: (request: Request, ...host: Host) => string | undefined;
}

/**
 * Serves web-standard requests with a Node handler. Each request gets a connection in memory, to which Node writes the
 * response as it would to a socket: what holds for a server of Node holds here too.
 */
export function fetchHandler<Host extends readonly unknown[]>(
  handle: (...exchange: Parameters<NodeHandler>) => void,
  clientAddressOf?: FetchHandlerOptions<Host>['clientAddress'],
): FetchHandler<Host> {
  return async (request, ...host) => {
    const { signal } = request;
    signal.throwIfAborted();
    const connection = new MemoryConnection(request, clientAddressOf?.(request, ...host));
    const incoming = new WebRequest(request, connection);
    const response = responseOver(connection, incoming);
    const abort = () => connection.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    connection.once('close', () => {
      signal.removeEventListener('abort', abort);
      incoming.destroy();
    });
    handle(incoming, response);
    return connection.response;
  };
}

function responseOver(connection: MemoryConnection, request: WebRequest): ServerResponse {
  const response = new ServerResponse(request);
  Object.defineProperties(response, {
    // the body is not framed: no HTTP connection carries it
    chunkedEncoding: { get: () => false, set: () => {} },
    writableNeedDrain: { get: () => connection.writableNeedDrain },
  });
  response.sendDate = false;
  // it has what Node's own messages use of a socket
  response.assignSocket(connection as unknown as Socket);
  connection.on('drain', () => response.emit('drain'));
  response.once('finish', () => connection.end());
  return response;
}

/** A web-standard request as Node shows one. */
class WebRequest extends IncomingMessage {
  readonly #body: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request, connection: MemoryConnection) {
    // as above
    super(connection as unknown as Socket);
    const { host, pathname, search } = new URL(request.url);
    this.#body = request.body?.getReader();
    this.complete = this.#body === undefined;
    this.method = request.method;
    this.url = pathname + search;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    const headers = new Headers(request.headers);
    if (!headers.has('host')) headers.set('host', host);
    // without it a body would have no length and no other sign that there is one
    if (this.#body && !headers.has('content-length')) headers.set('transfer-encoding', 'chunked');
    this.headers = Object.fromEntries(headers);
    this.rawHeaders = [...headers].flat();
  }

  override _read(size: number): void {
    super._read(size);
    if (this.#body === undefined) this.push(null);
    else
      this.#body
        .read()
        .then(({ done, value }) => this.#take(done, value))
        .catch((error) => this.destroy(error));
  }

  #take(done: boolean, value: unknown): void {
    this.complete = done;
    if (done) this.push(null);
    else if (ArrayBuffer.isView(value))
      this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    // a stream of the application may hold anything
    else throw new TypeError('The body of a request has to consist of bytes.');
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // what is left of the body is not wanted
    if (!this.complete) this.#body?.cancel(error).catch(() => {});
    super._destroy(error, done);
  }
}

/** As much of a body as waits here for its reader, beside what waits in the connection. */
const bufferedBytes = 16_384;
const headEnd = '\r\n\r\n';

/** Stands in the place of a socket: what Node writes to it becomes a `Response`, as fast as that is read. */
class MemoryConnection extends Writable {
  readonly response: Promise<Response>;
  readonly remoteAddress: string | undefined;
  readonly encrypted: boolean;
  readonly #hasNoBody: boolean;
  #head = Buffer.alloc(0);
  #begin: (response: Response) => void = () => {};
  #refuse: (reason: unknown) => void = () => {};
  #begun = false;
  #written = 0;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Ends the write that waits for the reader. */
  #taken: (() => void) | undefined;
  #reason: unknown = new Error('The server closed the connection before the end of its response.');

  constructor({ url, method }: Request, remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
    this.encrypted = url.startsWith('https:');
    this.#hasNoBody = method === 'HEAD';
    this.response = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.#refuse = reject;
    });
  }

  /** How much its reader has taken, where `StalledSockets` looks for it in a socket of Node. */
  get _handle(): { readonly bytesWritten: number; readonly writeQueueSize: number } {
    const room = this.#body?.desiredSize ?? bufferedBytes;
    return { bytesWritten: this.#written, writeQueueSize: bufferedBytes - room };
  }

  /** The client is gone. */
  abort(reason: unknown): void {
    this.#reason = reason;
    this.destroy();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    let bytes: Buffer;
    try {
      bytes = this.#begun ? chunk : this.#afterHead(chunk);
    } catch (error) {
      // a status or a header that a Response cannot have: no code above would catch it
      this.abort(error);
      return;
    }
    // a copy: Node makes small buffers from one that all share, and a reader may take over what it gets
    if (bytes.length > 0) this.#body?.enqueue(new Uint8Array(bytes));
    this.#written += bytes.length;
    if ((this.#body?.desiredSize ?? 1) > 0) done();
    else this.#taken = done;
  }

  override _final(done: () => void): void {
    this.#body?.close();
    done();
  }

  override _destroy(error: Error | null, done: () => void): void {
    const reason = error ?? this.#reason;
    if (!this.writableFinished) {
      this.#refuse(reason);
      this.#body?.error(reason);
    }
    // the reader learns it; an event would have no listener
    done();
  }

  /** Begins the response once its head is complete. Heads of other responses, such as early hints, may precede it. */
  #afterHead(chunk: Buffer): Buffer {
    this.#head = Buffer.concat([this.#head, chunk]);
    while (!this.#begun) {
      const end = this.#head.indexOf(headEnd);
      if (end === -1) return Buffer.alloc(0);
      this.#beginWith(this.#head.toString('latin1', 0, end));
      this.#head = this.#head.subarray(end + headEnd.length);
    }
    return this.#head;
  }

  #beginWith(head: string): void {
    const [first = '', ...fields] = head.split('\r\n');
    const [, status = '', ...words] = first.split(' ');
    if (status.startsWith('1')) return;
    const headers = new Headers();
    for (const field of fields) {
      const colon = field.indexOf(':');
      const name = field.slice(0, colon);
      if (!ofConnection.has(name.toLowerCase())) headers.append(name, field.slice(colon + 1).trim());
    }
    const isEmpty = this.#hasNoBody || bodiless.has(status);
    this.#begun = true;
    this.#begin(
      new Response(isEmpty ? null : this.#stream(), {
        status: Number(status),
        statusText: words.join(' '),
        headers,
      }),
    );
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => {
          const taken = this.#taken;
          this.#taken = undefined;
          taken?.();
        },
        cancel: (reason) => this.abort(reason),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: bufferedBytes }),
    );
  }
}

/** Headers of a connection, which belong to the server that has one. */
const ofConnection: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);
/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<string> = new Set(['204', '205', '304']);
