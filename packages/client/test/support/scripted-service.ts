import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Respond = (request: Received, response: ServerResponse, count: number) => unknown;

/** A service that does what a test says, also what no service should do. */
export class ScriptedService {
  readonly received: Received[] = [];
  readonly sockets = new Set<Socket>();

  private constructor(readonly url: string) {}

  static async start(respond: Respond): Promise<ScriptedService> {
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { method = '', url = '', headers } = request;
      const received = { method, path: url, headers, body: Buffer.concat(pieces).toString() };
      service.received.push(received);
      await respond(received, response, service.received.length);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const service = new ScriptedService(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (socket) => {
      service.sockets.add(socket);
      socket.on('error', () => {}).on('close', () => service.sockets.delete(socket));
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return service;
  }

  get lines(): string[] {
    return this.received.map(({ method, path }) => `${method} ${path}`);
  }
}

/** An event of the run `r` as the service sends it. */
export function frame(index: number, event: string, fields: object = {}): string {
  const data = { event, event_index: index, run_id: 'r', session_id: 's', ...fields };
  return `id: ${index}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const stream = { 'content-type': 'text/event-stream; charset=utf-8' };

/** Responds to everything about the run `r`: its events after the one that the client has, and the run. */
export function respondWith(frames: readonly string[]): Respond {
  return ({ path }, response) => {
    const url = new URL(path, 'http://service');
    if (/\/runs\/r$/.test(url.pathname)) return sendJson(response, { run_id: 'r', status: 'completed' });
    const rest = frames.slice(Number(url.searchParams.get('last_event_index') ?? -1) + 1);
    if (rest.length === 0) return response.writeHead(204).end();
    return response.writeHead(200, stream).end(rest.join(''));
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
