import type { IncomingMessage } from 'node:http';
import { isIPv6, type Server, type Socket } from 'node:net';
import { errors, type RunyardError } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { LoggedOnce } from '../logged-once.js';

const refused = 'requests that name this host are refused; add it to the setting allowedHosts to let them in';

export interface HostSettings {
  /** The address that the service listens on, where it listens itself. */
  readonly host?: string | undefined;
  readonly allowedHosts: readonly string[];
}

/**
 * Checks the name that a client called the service by. A page can make its own name lead to 127.0.0.1 (DNS
 * rebinding): its browser then takes the service for the page's own, and only `Host` shows the difference.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  /** With their leading dot. */
  readonly #domains: readonly string[];
  readonly #always: boolean;
  readonly #refused: LoggedOnce;
  /** Clients call by one name again and again. */
  #lastAllowed: string | undefined;

  constructor({ host, allowedHosts }: HostSettings, log: Log) {
    this.#refused = new LoggedOnce(log, 'host', refused);
    const [domains, names] = [
      allowedHosts.filter(isWildcard),
      allowedHosts.filter((name) => !isWildcard(name)),
    ];
    const own = host === undefined ? [] : [bracketed(host)];
    this.#names = new Set([...names, ...own].flatMap((name) => hostnameOf(name) ?? []));
    this.#domains = domains.flatMap((domain) => hostnameOf(domain.slice(2)) ?? []).map((name) => `.${name}`);
    this.#always = allowedHosts.length > 0;
  }

  /** A service on the loopback address is checked; another one when it names its hosts. */
  refusalOf(request: IncomingMessage): RunyardError | undefined {
    const host = hostOf(request);
    // no browser leaves it out
    if (!host || host === this.#lastAllowed) return undefined;
    if (!this.#always && !isOnLoopback(request.socket)) return undefined;
    if (this.#allows(host, request.socket)) {
      this.#lastAllowed = host;
      return undefined;
    }
    this.#refused.note(host);
    return errors.hostRefused();
  }

  #allows(host: string, { localAddress = '' }: Socket): boolean {
    const name = hostnameOf(host);
    if (name === undefined) return false;
    return (
      isLoopback(name) ||
      this.#names.has(name) ||
      this.#domains.some((domain) => name.endsWith(domain)) ||
      // by the address itself no name was made to lead here
      name === hostnameOf(bracketed(localAddress))
    );
  }
}

/** An address as the host of a URL. Node's pattern of IPv6 takes milliseconds to compile, and most addresses are none. */
function bracketed(address: string): string {
  return address.includes(':') && isIPv6(address) ? `[${address}]` : address;
}

/** The name that the client called, as it says. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers.host ?? [headers[':authority']].flat()[0];
}

const hostPattern = /^(?:\[[\da-f:.]+\]|[^\s/?#@\\:[\]]+)(?::\d{1,5})?$/i;

/** A host without its port, as browsers write it; undefined for what is no host. */
function hostnameOf(host: string): string | undefined {
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname.replace(/\.$/, '');
}

/** Whether a host, with or without its port, leads to the own machine or is one of the allowed ones. */
export function isLocalOrAllowed(host: string, allowed: readonly string[]): boolean {
  const name = hostnameOf(host);
  if (name === undefined) return false;
  return (
    isLoopback(name) ||
    allowed.some((one) =>
      isWildcard(one) ? name.endsWith(one.slice(1).toLowerCase()) : name === hostnameOf(one),
    )
  );
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.');
}

/** Whether a text is a host name without a port, or one that begins with `*.` and stands for all below it. */
export function isAllowedHost(text: string): boolean {
  const name = isWildcard(text) ? text.slice(2) : text;
  return !/:\d+$|\*/.test(name.replace(/^\[.*\]$/, '')) && hostnameOf(name) !== undefined;
}

/** Names that lead to the own machine wherever they are looked up; containers call theirs by the last two. */
const loopbackNames: ReadonlySet<string> = new Set([
  'localhost',
  '[::1]',
  'host.docker.internal',
  'host.containers.internal',
]);

function isLoopback(name: string): boolean {
  return loopbackNames.has(name) || name.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(name);
}

const onLoopback = new WeakMap<Server, boolean>();

/** Whether the server of a connection, ours or the one that the service is mounted in, listens on loopback only. */
export function isOnLoopback(socket: Socket): boolean {
  const { server }: Socket & { readonly server?: Server } = socket;
  if (server === undefined) return isLoopbackAddress(socket.localAddress);
  let known = onLoopback.get(server);
  if (known === undefined) {
    const bound = server.address();
    // a server that is closing has no address left, and a UNIX socket has no name that a browser knows
    known = typeof bound === 'object' && isLoopbackAddress(bound?.address ?? socket.localAddress);
    onLoopback.set(server, known);
  }
  return known;
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./i.test(address));
}
