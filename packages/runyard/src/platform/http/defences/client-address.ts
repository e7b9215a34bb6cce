import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** Whether a text is an address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** Finds where requests come from. What a request says of it counts only as far as its way is known. */
export class ClientAddresses {
  readonly #trusted: BlockList | undefined;

  constructor(trustedProxies: readonly string[]) {
    if (trustedProxies.length === 0) return;
    this.#trusted = new BlockList();
    for (const network of trustedProxies) {
      const [address = '', prefix] = network.split('/');
      const version = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (prefix === undefined) this.#trusted.addAddress(address, version);
      else this.#trusted.addSubnet(address, Number(prefix), version);
    }
  }

  /**
   * Each proxy appends the address of its own client: read from the right, the first address that is not a
   * proxy of ours is the client. Whatever is left of it may be forged.
   */
  of(request: IncomingMessage): string {
    let address = remoteOf(request);
    const forwarded = this.#trusted && request.headers['x-forwarded-for'];
    if (typeof forwarded !== 'string') return address;
    let end = forwarded.length;
    while (end >= 0 && this.#isTrusted(address)) {
      const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1);
      const before = plainAddress(forwarded.slice(comma + 1, end).trim());
      if (isIP(before) === 0) break;
      address = before;
      end = comma;
    }
    return address;
  }

  /** Whether the request comes from a proxy of ours. */
  isProxy(request: IncomingMessage): boolean {
    return this.#isTrusted(remoteOf(request));
  }

  #isTrusted(address: string): boolean {
    if (this.#trusted === undefined || isIP(address) === 0) return false;
    return this.#trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  }
}

function remoteOf({ socket }: IncomingMessage): string {
  const remote = socket.remoteAddress ?? '';
  return remote.startsWith('::') ? plainAddress(remote) : remote;
}

/** Without a port, brackets, or the clothes of IPv6 in which a socket shows IPv4. */
function plainAddress(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  const mapped = /^::ffff:([\d.]+)$/i.exec(bare)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : bare;
}
