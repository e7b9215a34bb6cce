import { lookup as resolve } from 'node:dns';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.js';

/** What a fetch on somebody else's behalf may do. */
export interface FetchLimits {
  /** Hosts that may be reached although their addresses are not public: `host` or `host:port`. */
  readonly allowedHosts: readonly string[];
  readonly maxBytes: number;
  /** For the whole of it, redirects included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface FetchedContent {
  /** Where it was in the end, after redirects. */
  readonly url: string;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
}

/** Says what was wrong in words that may be shown to whoever named the address. */
export class FetchRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FetchRefused';
  }
}

const mostRedirects = 5;

/**
 * Fetches what a caller named. Only http and https, only public addresses (the address that is connected to is the one
 * that was checked, so that a name cannot change its mind in between), each redirect checked like the first address,
 * bounded in size and time, without credentials.
 */
export async function guardedFetch(address: string, limits: FetchLimits): Promise<FetchedContent> {
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  const signal = limits.signal ? AbortSignal.any([limits.signal, deadline]) : deadline;
  try {
    return await follow(address, limits, signal);
  } catch (error) {
    limits.signal?.throwIfAborted();
    if (deadline.aborted) throw new FetchRefused(`The address did not answer within ${limits.timeoutMs} ms.`);
    if (error instanceof FetchRefused) throw error;
    // what the network says may name hosts behind the address
    throw new FetchRefused('The address could not be reached.');
  }
}

async function follow(address: string, limits: FetchLimits, signal: AbortSignal): Promise<FetchedContent> {
  let url = checkedUrl(address, limits);
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(url, limits, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy();
      if (redirects === mostRedirects) throw new FetchRefused('The address redirects too often.');
      url = checkedUrl(headers.location, limits, url.href);
      continue;
    }
    if (statusCode !== 200) {
      response.destroy();
      throw new FetchRefused(`The address answered with status ${statusCode}.`);
    }
    return {
      url: url.href,
      contentType: headers['content-type'],
      bytes: await readBounded(response, limits.maxBytes),
    };
  }
}

function checkedUrl(address: string, limits: FetchLimits, base?: string): URL {
  if (!URL.canParse(address, base)) throw new FetchRefused('The address is not a valid URL.');
  const url = new URL(address, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchRefused('Only http and https addresses are fetched.');
  if (url.username !== '' || url.password !== '')
    throw new FetchRefused('An address with a user name or a password is not fetched.');
  const host = bareHost(url);
  // a name is checked when it is looked up; an address in figures never is
  if (isIP(host) !== 0 && !isPublicAddress(host) && !isAllowed(url, limits)) throw notPublic();
  return url;
}

function notPublic(): FetchRefused {
  return new FetchRefused('The address leads to a private network, which is not allowed here.');
}

function isAllowed(url: URL, { allowedHosts }: FetchLimits): boolean {
  return allowedHosts.includes(url.host) || allowedHosts.includes(url.hostname);
}

/** An IPv6 address stands in brackets in a URL. */
function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function get(url: URL, limits: FetchLimits, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((fulfil, reject) => {
    const request = send(url, {
      signal,
      // a connection that others opened may lead elsewhere by now
      agent: false,
      headers: { 'user-agent': 'runyard', accept: '*/*', 'accept-encoding': 'identity' },
      ...(!isAllowed(url, limits) && { lookup: publicLookup }),
    });
    request.on('response', fulfil);
    request.on('error', reject);
    request.end();
  });
}

/** Looks a name up, and lets the connection go only to what was found and checked here. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0);
    // one private address among public ones is how rebinding begins
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(notPublic(), '', 0);
    if (options.all) return (callback as (error: null, found: typeof addresses) => void)(null, addresses);
    const [first] = addresses as [(typeof addresses)[number]];
    callback(null, first.address, first.family);
  });
};

async function readBounded(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new FetchRefused(`The content is larger than the limit of ${maxBytes} bytes.`);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    size += (part as Buffer).length;
    if (size > maxBytes) throw tooLarge();
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}
