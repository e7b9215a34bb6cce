import type { IncomingMessage } from 'node:http';
import type { ClientAddresses } from '../defences/client-address.js';
import { hostOf } from '../defences/hosts.js';

/** The host that the client called: a proxy of ours says so of its own client. */
export function calledHost(request: IncomingMessage, addresses: ClientAddresses): string | undefined {
  return forwarded(request, addresses, 'x-forwarded-host') ?? hostOf(request);
}

const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;
const prefixPattern = /^(?:\/[\w.~-]+)+$/;

/**
 * The address by which the client reaches the service, without a slash at its end: `https://agents.example.com`. Scheme,
 * host and path are those that a proxy of ours reports; what anyone else says of them does not count.
 */
export function calledAddress(
  request: IncomingMessage,
  addresses: ClientAddresses,
  basePath: string,
): string {
  const { socket } = request;
  const encrypted = 'encrypted' in socket && socket.encrypted === true;
  const scheme = forwarded(request, addresses, 'x-forwarded-proto')?.toLowerCase();
  const protocol = scheme === 'https' || scheme === 'http' ? scheme : encrypted ? 'https' : 'http';
  const host = calledHost(request, addresses);
  const name = host !== undefined && hostPattern.test(host) ? host : ownHost(request);
  const prefix = forwarded(request, addresses, 'x-forwarded-prefix')?.replace(/\/+$/, '') ?? '';
  return `${protocol}://${name}${prefixPattern.test(prefix) ? prefix : ''}${basePath}`;
}

/** Of several proxies the first one spoke to the client. */
function forwarded(request: IncomingMessage, addresses: ClientAddresses, header: string): string | undefined {
  const value = request.headers[header];
  if (typeof value !== 'string' || !addresses.isProxy(request)) return undefined;
  return value.split(',', 1)[0]?.trim();
}

/** A client of HTTP/1.0 names no host. */
function ownHost({ socket: { localAddress = 'localhost', localPort } }: IncomingMessage): string {
  const name = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  return localPort === undefined ? name : `${name}:${localPort}`;
}
