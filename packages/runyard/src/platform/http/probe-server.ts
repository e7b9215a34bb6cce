import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { explainListen, urlOf } from './handler.js';

/** What a path answers with. */
export interface ProbeAnswer {
  readonly status: number;
  /** An object is sent as JSON. */
  readonly body: object | string;
  /** What a text is. */
  readonly contentType?: string;
}

export type Probes = Readonly<
  Record<string, (headers: IncomingHttpHeaders) => ProbeAnswer | Promise<ProbeAnswer>>
>;

export interface ProbeServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Orchestrators send a few small requests; a client that sends others is not waited for. */
const timeoutMs = 5_000;
const maxConnections = 100;
const maxHeaderSize = 8_192;

const notFound: ProbeAnswer = { status: 404, body: { detail: 'Not Found', error_code: 'not_found' } };
const broken: ProbeAnswer = { status: 503, body: { status: 'not_ready' } };

/**
 * Answers probes on a port of their own: GET and HEAD for the given paths, and nothing else. It has no part in the
 * service behind it, so that it answers before that is open and until it is closed.
 */
export async function openProbeServer(
  { host, port }: { readonly host: string; readonly port: number },
  probes: Probes,
): Promise<ProbeServer> {
  const server = createServer({
    maxHeaderSize,
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: timeoutMs / 5,
    keepAliveTimeout: timeoutMs,
  });
  boundConnections(server);
  server.on('request', (request, response) => void answer(request, response, probes));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainListen(error, host, port, 'probePort')));
    server.listen(port, host, resolve);
  });
  return {
    // it listens on a port
    url: urlOf(host, (server.address() as AddressInfo).port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, probes: Probes): Promise<void> {
  const { status, body, contentType = 'application/json' } = await answerOf(request, probes);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // a body was not asked for, and is not read
    ...(request.complete ? undefined : { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

async function answerOf(
  { method, url = '/', headers }: IncomingMessage,
  probes: Probes,
): Promise<ProbeAnswer> {
  const [path = '/'] = url.split('?', 1);
  if ((method !== 'GET' && method !== 'HEAD') || !Object.hasOwn(probes, path)) return notFound;
  try {
    return (await probes[path]?.(headers)) ?? notFound;
  } catch {
    return broken;
  }
}

/** A new connection takes the place of the oldest one: those who only hold theirs keep no orchestrator out. */
function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= maxConnections) return;
    const [oldest] = open;
    if (oldest !== undefined) open.delete(oldest);
    oldest?.destroy();
  });
}
