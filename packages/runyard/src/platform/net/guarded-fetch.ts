import { type LookupAddress, lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { boundedBody } from './bounded-body.js';
import { isPublicAddress } from './public-address.js';

export interface GuardedFetchOptions {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Only these hosts and those below them (`example.com` includes `www.example.com`), at every redirect. */
  readonly onlyHosts?: readonly string[];
  /** Hosts (`intranet.example`, `127.0.0.1:8080`) that may be reached although they are not public. */
  readonly allowedHosts?: readonly string[];
  /** How many bytes the body may have, after it is unpacked. Default 5 MB. */
  readonly maximumBytes?: number;
  /** For all of it, redirects and the reading of the body included. Default 15 s. */
  readonly timeoutMs?: number;
  /** How long the server may send nothing: before its answer and within its body. Default: as long as all of it. */
  readonly idleMs?: number;
  /** Default 5. */
  readonly maximumRedirects?: number;
}

interface GuardedAnswer {
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface GuardedResponse extends GuardedAnswer {
  readonly body: Uint8Array;
}

export interface GuardedStream extends GuardedAnswer {
  /** The unpacked body, once. It fails at the bounds of size and time. Leaving it early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the connection of a body that is not read. */
  close(): void;
}

/** Something that the guard does not let through. The message says what and why, to the user who named the address. */
export class FetchRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FetchRefused';
  }
}

/** As `guardedStream`, with the whole body. */
export async function guardedFetch(url: string, options: GuardedFetchOptions = {}): Promise<GuardedResponse> {
  const { body, close, ...answer } = await guardedStream(url, options);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { ...answer, body: Buffer.concat(chunks) };
}

/**
 * Fetches on behalf of users who must not reach addresses inside our network: http and https only, public
 * addresses only (the address is checked at the moment of the connection, so a name that changes its mind does not
 * help), every redirect checked again, size and time bounded. No proxy, no cookies, no credentials in the URL.
 */
export async function guardedStream(url: string, options: GuardedFetchOptions = {}): Promise<GuardedStream> {
  const { timeoutMs = 15_000, idleMs, maximumRedirects = 5, maximumBytes = 5_000_000 } = options;
  const time = timeBound(timeoutMs, options.signal);
  const silent = (ms: number) => new FetchRefused(`${url} did not answer within ${ms} ms.`);
  const failure = (error: unknown): unknown => {
    if (options.signal?.aborted) return options.signal.reason;
    return time.isUp() ? silent(timeoutMs) : error;
  };
  let request: Hop = {
    url: checkedUrl(url),
    method: options.method ?? 'GET',
    headers: { ...options.headers },
    body: options.body,
  };
  try {
    for (let redirects = 0; ; redirects++) {
      const response = await exchange(request, options, time.signal, () => silent(idleMs ?? timeoutMs));
      const next = redirectOf(request, response);
      if (next === undefined) {
        const bounds = { maximumBytes, idleMs, signal: time.signal, stalled: silent };
        return {
          url: request.url.href,
          status: response.statusCode ?? 0,
          headers: flat(response.headers),
          body: withFailures(boundedBody(response, bounds), failure, time.end),
          close: () => {
            time.end();
            response.destroy();
          },
        };
      }
      response.destroy();
      if (redirects >= maximumRedirects)
        throw new FetchRefused(`${url} redirects more than ${maximumRedirects} times.`);
      request = next;
    }
  } catch (error) {
    time.end();
    throw failure(error);
  }
}

interface TimeBound {
  /** Aborts with the signal of the caller, or when the time is up. */
  readonly signal: AbortSignal;
  isUp(): boolean;
  end(): void;
}

/** What it holds on to is released by `end`: a caller's signal outlives many fetches, and so would their timers. */
function timeBound(timeoutMs: number, caller: AbortSignal | undefined): TimeBound {
  const controller = new AbortController();
  let isUp = false;
  const stop = () => {
    end();
    controller.abort();
  };
  const timer = setTimeout(() => {
    isUp = true;
    stop();
  }, timeoutMs).unref();
  const end = () => {
    clearTimeout(timer);
    caller?.removeEventListener('abort', stop);
  };
  if (caller?.aborted) stop();
  else caller?.addEventListener('abort', stop, { once: true });
  return { signal: controller.signal, isUp: () => isUp, end };
}

/** A body whose errors say who ended it: the caller, the deadline, or the other side. */
async function* withFailures(
  body: AsyncIterable<Uint8Array>,
  failure: (error: unknown) => unknown,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(error);
  } finally {
    end();
  }
}

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

function checkedUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new FetchRefused(`'${text.slice(0, 200)}' is not a URL.`);
  const url = new URL(text, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchRefused(`${url.protocol} is not fetched, only http: and https:.`);
  if (url.username !== '' || url.password !== '')
    throw new FetchRefused('A URL with a user name or a password is not fetched.');
  return url;
}

function exchange(
  hop: Hop,
  guard: GuardedFetchOptions,
  signal: AbortSignal,
  silent: () => Error,
): Promise<IncomingMessage> {
  const { url } = hop;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (guard.onlyHosts !== undefined) checkHost(host, guard.onlyHosts);
  const allowed = (guard.allowedHosts ?? []).some((name) => {
    const given = name.toLowerCase();
    return given === host || given === url.hostname || given === url.host;
  });
  // A literal address is connected to without a look-up.
  if (isIP(host) !== 0 && !allowed && !isPublicAddress(host)) throw refusedAddress(host);
  const options: RequestOptions = {
    method: hop.method,
    signal,
    // A connection of its own: one that is kept would skip the check.
    agent: false,
    headers: {
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'runyard',
      ...hop.headers,
      host: url.host,
    },
    lookup: allowed ? undefined : publicLookup,
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest() : httpRequest;
    const request = send(url, options, (response) => {
      clearTimeout(timer);
      // an error that comes before the body is read is met again when it is read
      response.on('error', () => {});
      resolve(response);
    });
    const timer =
      guard.idleMs === undefined ? undefined : setTimeout(() => request.destroy(silent()), guard.idleMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.end(hop.body);
  });
}

function checkHost(host: string, hosts: readonly string[]): void {
  const isBelow = (name: string) => host === name || host.endsWith(`.${name}`);
  if (!hosts.some((name) => isBelow(name.toLowerCase())))
    throw new FetchRefused(`${host} is not among the hosts that may be fetched: ${hosts.join(', ')}.`);
}

/** A refusal of a name takes a multiple of this, so that its duration does not reveal how soon it was known. */
const refusalStepMs = 500;

/** Not imported: it loads all of TLS, which would slow each start. */
function httpsRequest(): typeof httpRequest {
  return createRequire(import.meta.url)('node:https').request;
}

/** Resolves a name as the connection needs it, and fails if any of its addresses is not public. */
const publicLookup: NonNullable<RequestOptions['lookup']> = (hostname, options, callback) => {
  const begun = performance.now();
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const [first] = found ?? [];
    if (error || first === undefined || !found.every(({ address }) => isPublicAddress(address))) {
      const rest = refusalStepMs - ((performance.now() - begun) % refusalStepMs);
      setTimeout(() => callback(refusedAddress(hostname), []), rest);
    } else if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

/**
 * One answer for a name that leads inside, for one that does not exist and for one that could not be looked up: from
 * different ones a network could be learned, name by name.
 */
function refusedAddress(host: string): FetchRefused {
  return new FetchRefused(
    `${host} is not a public address, or does not exist. A private host must be allowed by name.`,
  );
}

/** The request that a redirect asks for; undefined when the answer is no redirect. */
function redirectOf({ url, method, headers, body }: Hop, response: IncomingMessage): Hop | undefined {
  const { statusCode = 0, headers: given } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode) || given.location === undefined) return undefined;
  const target = checkedUrl(given.location, url);
  const isSameOrigin = target.origin === url.origin;
  const keepsMethod = statusCode === 307 || statusCode === 308 || method === 'HEAD';
  if (keepsMethod && body !== undefined && !isSameOrigin)
    throw new FetchRefused(`${url.host} redirects what was sent to it to another origin.`);
  return {
    url: target,
    method: keepsMethod ? method : 'GET',
    headers: isSameOrigin ? headers : withoutSecrets(headers),
    body: keepsMethod ? body : undefined,
  };
}

const harmless = new Set(['accept', 'accept-language', 'user-agent', 'content-type']);

/** Another origin learns nothing that was meant for the first one. */
function withoutSecrets(headers: Hop['headers']): Hop['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name.toLowerCase())));
}

function flat(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
