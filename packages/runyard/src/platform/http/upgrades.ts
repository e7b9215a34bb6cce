import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RunyardError } from '../../core/errors.js';

/** Takes over a connection whose client asked for another protocol. */
export type NodeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** WebSocket endpoints on the same port, by their paths. */
export interface Upgrades {
  readonly paths: ReadonlyMap<string, NodeUpgrade>;
  /** Takes no more connections and ends those that are there. Settles when they are closed. */
  close(): Promise<void>;
}

/** The endpoint that a request is for; undefined when it asks for another protocol or for another path. */
export function upgradeOf(upgrades: Upgrades, request: IncomingMessage): NodeUpgrade | undefined {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  return upgrades.paths.get(path.replace(/\/+$/, ''));
}

/** Hands requests for an endpoint to it. All others are answered as if they had not asked for another protocol. */
export function acceptUpgrades(server: Server, upgrades: Upgrades): void {
  server.on('upgrade', (request, socket, head) => {
    const accept = upgradeOf(upgrades, request);
    if (accept) accept(request, socket, head);
    else goOnAsHttp(server, request, socket, head);
  });
}

/** Refuses with the body that all errors have. */
export function refuseUpgrade(socket: Duplex, error: RunyardError, requestId: string): void {
  const body = JSON.stringify({ detail: error.detail, error_code: error.code, request_id: requestId });
  socket.on('error', () => {});
  socket.end(
    `HTTP/1.1 ${error.status} ${reasons[error.status] ?? 'Error'}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\nconnection: close\r\n\r\n${body}`,
  );
}

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
};

const hopHeaders = new Set(['upgrade', 'http2-settings']);

/**
 * A server may ignore the wish for another protocol, and has to for the clients that offer HTTP/2 with every
 * request. Node takes all such requests out of HTTP once somebody listens for upgrades: they are put back, without
 * the offer.
 */
function goOnAsHttp(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] as string;
    const value = withoutOffer(name.toLowerCase(), request.rawHeaders[at + 1] as string);
    if (value !== '') lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function withoutOffer(name: string, value: string): string {
  if (hopHeaders.has(name)) return '';
  if (name !== 'connection') return value;
  const kept = value.split(',').filter((option) => !hopHeaders.has(option.trim().toLowerCase()));
  return kept.join(',').trim();
}
