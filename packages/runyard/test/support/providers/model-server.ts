import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What the server does with one request, in the provider's wire format. */
export interface ModelServerReply {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body: an object goes out as JSON, a string as it is. */
  readonly body?: unknown;
  /** Chunks of a stream; a string is sent as the data of its event untouched. */
  readonly events?: readonly unknown[];
  /** The bytes of a stream as they are, instead of `events`. */
  readonly raw?: string;
  /** Sends the stream one byte at a time. */
  readonly byteByByte?: boolean;
  /**
   * After the events: `done` sends [DONE] and ends (the default), `end` only ends, `reset` destroys the socket,
   * `stall` says nothing more and leaves it open.
   */
  readonly ending?: 'done' | 'end' | 'reset' | 'stall';
  /** `reset` or `stall` before a single byte of an answer. */
  readonly instead?: 'reset' | 'stall';
}

export interface ModelServerRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the body of a request is whatever the adapter sent.
  readonly body: any;
}

export interface ModelServer {
  /** The base URL for an adapter. */
  readonly url: string;
  readonly requests: readonly ModelServerRequest[];
  /** Resolves when a client has left a connection while its answer was still open. */
  clientLeft(): Promise<void>;
  /** Resolves when a request has arrived and been answered as far as the script goes. */
  answered(): Promise<void>;
  /** How many connections were accepted. */
  connections(): number;
  stop(): Promise<void>;
}

export type ModelServerScript =
  | readonly ModelServerReply[]
  | ((request: ModelServerRequest, index: number) => ModelServerReply);

/** A local server in place of a provider, which follows a script in the wire format of its caller. */
export async function startModelServer(script: ModelServerScript): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const left = resolvers();
  const answered = resolvers();
  let connections = 0;
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await readRequest(incoming);
    const index = requests.push(request) - 1;
    const reply = typeof script === 'function' ? script(request, index) : script[index];
    await respond(response, reply ?? { status: 500, body: 'The script of the model server has ended.' });
    answered.resolve();
  };
  const server = createServer((incoming, response) => {
    response.on('close', () => {
      if (!response.writableFinished) left.resolve();
    });
    // A client that leaves in the middle is what many tests are about.
    serve(incoming, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    connections++;
    socket.setNoDelay(true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    clientLeft: () => left.promise,
    answered: () => answered.promise,
    connections: () => connections,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A chunk of a stream that carries a piece of text. */
export function textChunk(text: string): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: text } }],
  };
}

export function finishChunk(reason = 'stop'): object {
  return { id: 'chatcmpl-1', choices: [{ index: 0, delta: {}, finish_reason: reason }] };
}

export function usageChunk(usage: object): object {
  return { id: 'chatcmpl-1', choices: [], usage };
}

/** A stream of events that are named by their type, as Anthropic and the Responses API send them. */
export function namedEvents(events: readonly { readonly type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** A stream of plain events, as Gemini sends them. */
export function plainEvents(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');
}

async function readRequest(incoming: IncomingMessage): Promise<ModelServerRequest> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return {
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: JSON.parse(Buffer.concat(parts).toString('utf8')),
  };
}

async function respond(response: ServerResponse, reply: ModelServerReply): Promise<void> {
  if (reply.instead === 'reset') response.socket?.resetAndDestroy();
  if (reply.instead !== undefined) return;
  if (reply.events === undefined && reply.raw === undefined) {
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
    const type = typeof reply.body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers }).end(text);
    return;
  }
  response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers });
  response.flushHeaders();
  await writeAll(response, reply.raw ?? frames(reply.events ?? []), reply.byteByByte ?? false);
  const ending = reply.ending ?? 'done';
  if (ending === 'done') response.end('data: [DONE]\n\n');
  else if (ending === 'end') response.end();
  else if (ending === 'reset') response.socket?.resetAndDestroy();
}

function frames(events: readonly unknown[]): string {
  return events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('');
}

async function writeAll(response: ServerResponse, text: string, byteByByte: boolean): Promise<void> {
  const bytes = Buffer.from(text);
  if (!byteByByte) {
    if (bytes.length > 0) await new Promise((resolve) => response.write(bytes, resolve));
    return;
  }
  for (let at = 0; at < bytes.length && !response.destroyed; at++) {
    await new Promise((resolve) => response.write(bytes.subarray(at, at + 1), resolve));
    await nextTurn();
  }
}

function resolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
