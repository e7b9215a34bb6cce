import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { RunyardError } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { Caller } from '../auth/caller.js';
import type { ClientAddresses } from './defences/client-address.js';
import type { RateLimiter } from './defences/rate-limit.js';
import type { RequestGuard } from './defences/request-guard.js';
import type { StalledSockets } from './defences/stalled-sockets.js';
import { withoutTrailingSlashes } from './request/request-address.js';

/** Takes over a connection whose client asked for another protocol. */
export type NodeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** What an endpoint learns about a connecting client. */
export interface UpgradeFacts {
  readonly clientAddress: string;
  /** Counts something that this caller asks for; throws 429 for one who asks too often. */
  spend(caller: Caller): void;
}

export type UpgradeEndpoint = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  facts: UpgradeFacts,
) => void;

/** WebSocket endpoints on the same port, by their paths. */
export interface Upgrades {
  readonly paths: ReadonlyMap<string, UpgradeEndpoint>;
  /** Takes no more connections and ends those that are there. Settles when they are closed. */
  close(): Promise<void>;
}

interface UpgradeGateParts {
  readonly upgrades: Upgrades;
  readonly requestGuard: RequestGuard;
  readonly stalled: StalledSockets;
  readonly addresses: ClientAddresses;
  readonly limiter: RateLimiter | undefined;
}

/** Lets connections through to the endpoints, within the bounds that hold for requests. */
export class UpgradeGate {
  #open = 0;

  constructor(private readonly parts: UpgradeGateParts) {}

  /** How many connections the endpoints have taken over. */
  get open(): number {
    return this.#open;
  }

  /** Whether it was for an endpoint; all else asks for another protocol, or for another path. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (!offersWebSocket(request)) return false;
    const [path = '/'] = withoutTrailingSlashes(request.url ?? '/').split('?', 1);
    const endpoint = this.parts.upgrades.paths.get(path);
    if (endpoint === undefined) return false;
    this.parts.stalled.watch(socket);
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
    });
    try {
      endpoint(request, socket, head, this.#factsOf(request));
    } catch (error) {
      if (!(error instanceof RunyardError)) throw error;
      refuseUpgrade(socket, error, newId());
    }
    return true;
  }

  #factsOf(request: IncomingMessage): UpgradeFacts {
    const { requestGuard, addresses, limiter } = this.parts;
    const refusal = requestGuard.refusalOfUpgrade(request);
    if (refusal) throw refusal;
    const clientAddress = addresses.of(request);
    limiter?.takeForAddress(clientAddress);
    return { clientAddress, spend: (caller) => limiter?.takeFor(caller, clientAddress) };
  }
}

export function offersWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Hands requests for an endpoint to it. All others are answered as if they had not asked for another protocol. */
export function acceptUpgrades(server: Server, gate: UpgradeGate): void {
  server.on('upgrade', (request, socket, head) => {
    if (!gate.accept(request, socket, head)) goOnAsHttp(server, request, socket, head);
  });
}

/** Refuses with the body that all errors have. */
export function refuseUpgrade(socket: Duplex, error: RunyardError, requestId: string): void {
  const body = JSON.stringify({ detail: error.detail, error_code: error.code, request_id: requestId });
  const retryAfter = error.options.headers?.['retry-after'];
  socket.on('error', () => {});
  socket.end(
    `HTTP/1.1 ${error.status} ${reasons[error.status] ?? 'Error'}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n` +
      `${retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`}connection: close\r\n\r\n${body}`,
  );
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  414: 'URI Too Long',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

const hopHeaders = new Set(['upgrade', 'http2-settings']);

/**
 * A server may ignore the offer of another protocol, and has to for the clients that offer HTTP/2 with every
 * request. Node takes all such requests out of HTTP once a listener for upgrades exists: they are put back, without
 * the offer.
 */
function goOnAsHttp(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const [name = '', given = ''] = request.rawHeaders.slice(at, at + 2);
    const value = withoutOffer(name.toLowerCase(), given);
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
