import { connect, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { afterEach } from 'vitest';
import type { Log } from '../../../src/core/log.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import type { HttpServer } from '../../../src/platform/http/handler.js';
import type { Route } from '../../../src/platform/http/route.js';
import { createHttpServer, type HttpServerOptions } from '../../../src/platform/http/server.js';
import { defaultHttpSettings, type HttpSettings } from '../../../src/platform/http/settings.js';

export interface TestServer {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
  readonly logged: LogLine[];
}

export interface LogLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

const open: HttpServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(open.splice(0).map((server) => server.close()));
});

type StartOptions<Services> = Partial<Omit<HttpServerOptions<Services>, 'routes' | 'settings'>> & {
  readonly settings?: Partial<HttpSettings & { docs: boolean }>;
};

/** Listens on a free port of the loopback address until the test is over. */
export async function startServer<Services = unknown>(
  routes: readonly Route<Services>[],
  options: StartOptions<Services> = {},
  port = 0,
): Promise<TestServer> {
  const logged: LogLine[] = [];
  const server = await createHttpServer<Services>({
    services: {} as Services,
    resolveCaller: () => anonymousCaller,
    info: { title: 'Test', version: '1.0.0' },
    log: recordingLog(logged),
    ...options,
    routes,
    settings: { ...defaultHttpSettings, ...options.settings },
  });
  open.push(server);
  const address = await server.listen({ host: '127.0.0.1', port });
  return { server, ...address, logged };
}

export function recordingLog(lines: LogLine[]): Log {
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A client that speaks raw bytes. */
export interface RawClient {
  readonly socket: Socket;
  received(): string;
  /** Waits until the text that came so far fulfils a condition. */
  until(condition: (text: string) => boolean): Promise<string>;
  /** Waits for the end of the connection and returns all that came. */
  closed(): Promise<string>;
}

export function rawClient(port: number): RawClient {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const chunks: string[] = [];
  const received = () => chunks.join('');
  const decoder = new StringDecoder('utf8');
  let check = () => {};
  socket.on('data', (chunk: Buffer) => {
    chunks.push(decoder.write(chunk));
    check();
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received())));
  return {
    socket,
    received,
    closed: () => closed,
    until: (condition) =>
      new Promise((resolve, reject) => {
        check = () => {
          const text = received();
          if (!condition(text)) return;
          check = () => {};
          resolve(text);
        };
        void closed.then((text) =>
          reject(new Error(`The connection was closed after: ${text.slice(0, 1000)}`)),
        );
        check();
      }),
  };
}
