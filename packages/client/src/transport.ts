import { encoded } from './body.js';
import { apiError, isTransient, NetworkError, RunyardError } from './errors.js';
import { type ReportProgress, uploadWith } from './upload.js';
import { backOffMs, pause, timer, unlessAborted } from './waiting.js';

export interface ClientOptions {
  /** Where the service is, such as `https://agents.example.com`; in a page also a path of its own origin. */
  readonly baseUrl: string;
  /** The access token, or a function that gets one. It is called again after a 401. */
  readonly token?: string | (() => string | Promise<string>);
  /** Used instead of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How often a request that may be repeated is repeated. Default: 3. */
  readonly retries?: number;
  /** After how many milliseconds without the service a stream gives up. Default: 600 000. */
  readonly reconnectMs?: number;
  /** After how many milliseconds of silence a stream connects again; services send a heartbeat. Default: 45 000. */
  readonly silenceMs?: number;
}

/** Settings of one call. */
export interface CallOptions<Query = never> {
  readonly query?: Query;
  /** Ends the call, not the run that it started. */
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retries?: number;
  /** Called while the body is sent. */
  readonly onUploadProgress?: ReportProgress;
}

export interface Request extends Omit<CallOptions, 'query'> {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  /** Whether it may be sent again when it may have arrived. Default: for GET. */
  readonly repeatable?: boolean;
  /** Whether pages are responses, too: of a route of the user, not of an operation. */
  readonly isOwnRoute?: boolean;
  /** Called when the service is silent for too long. Getting a token may take longer, such as from a person. */
  readonly onSilence?: () => void;
}

/** Sends requests: with the token, repeated where that is safe, with typed errors. */
export class Transport {
  readonly #options: ClientOptions;
  #token: Promise<string> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get reconnectMs(): number {
    return this.#options.reconnectMs ?? 600_000;
  }

  get silenceMs(): number {
    return this.#options.silenceMs ?? 45_000;
  }

  get retries(): number {
    return this.#options.retries ?? 3;
  }

  /** The body of the response: JSON, text of another type, or undefined without one. */
  value(request: Request): Promise<unknown> {
    return this.repeated(request, async () => {
      const response = await this.open(request);
      const type = response.headers.get('content-type') ?? '';
      if (type.startsWith('text/html') && !request.isOwnRoute) throw await notTheService(request, response);
      return reached(request, async () => {
        const text = await response.text();
        return type.startsWith('application/json') ? JSON.parse(text) : text || undefined;
      });
    });
  }

  /** Does the work of a request again if that may help and is safe. */
  async repeated<T>(request: Request, work: () => Promise<T>): Promise<T> {
    const { repeatable = request.method === 'GET', retries = this.retries, signal } = request;
    for (let failures = 0; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        if (!repeatable || failures >= retries || !isTransient(error)) throw error;
        await pause(backOffMs(failures, error), signal);
      }
    }
  }

  /** The response, before its body has come. The request is sent once; twice if the token has expired. */
  async open(request: Request): Promise<Response> {
    const { signal } = request;
    const token = this.#token ?? this.#newToken();
    let response = await this.#send(request, await unlessAborted(token, signal));
    if (response.status === 401 && typeof this.#options.token === 'function') {
      // of several requests that are refused at once, the first gets the new token for all
      if (this.#token === token) this.#newToken();
      const renewed = await unlessAborted(this.#token ?? this.#newToken(), signal);
      if (renewed !== (await token)) {
        await response.body?.cancel();
        response = await this.#send(request, renewed);
      }
    }
    if (response.ok) return response;
    throw await this.#timed(request, () => apiError(response));
  }

  async #timed<T>({ onSilence }: Request, work: () => Promise<T>): Promise<T> {
    const stop = onSilence && timer(this.silenceMs, onSilence);
    try {
      return await work();
    } finally {
      stop?.();
    }
  }

  #newToken(): Promise<string> {
    const { token = '' } = this.#options;
    const asked = Promise.resolve(typeof token === 'function' ? token() : token);
    this.#token = asked;
    asked.catch(() => {
      if (this.#token === asked) this.#token = undefined;
    });
    return asked;
  }

  #send(request: Request, token: string): Promise<Response> {
    const { method, path, query, body, signal, onUploadProgress } = request;
    const { baseUrl, fetch = globalThis.fetch.bind(globalThis) } = this.#options;
    const url = addressOf(baseUrl) + path + searchOf(query);
    const data = body && encoded(body);
    const headers = merged(
      {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(typeof data === 'string' && { 'content-type': 'application/json' }),
      },
      this.#options.headers,
      request.headers,
    );
    const send = () =>
      data !== undefined && onUploadProgress
        ? uploadWith(fetch, { url, method, headers, body: data, signal }, onUploadProgress)
        : fetch(url, {
            method,
            headers,
            // the service sends none; what follows them takes headers and messages to other addresses
            redirect: 'manual',
            ...(data !== undefined && { body: data }),
            ...(signal && { signal }),
          });
    return this.#timed(request, () => reached(request, send));
  }
}

/** Platforms throw different things for a connection that fails. */
export async function reached<T>(
  { method, path, signal }: Pick<Request, 'method' | 'path' | 'signal'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NetworkError) throw error;
    throw new NetworkError(`${method} ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Node says the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && cause.message ? `${message} (${cause.message})` : message;
}

/** A page instead of an answer: a wrong address, or a proxy that wants something. */
export async function notTheService({ method, path }: Request, response: Response): Promise<RunyardError> {
  await response.body?.cancel();
  const type = response.headers.get('content-type') ?? 'of no type';
  return new RunyardError(
    `${method} ${path}: the response is ${type}, so it is not from a Runyard service. Check baseUrl.`,
  );
}

/** Platforms treat a wrong address like a service that is away; it would be tried again and again. */
function addressOf(baseUrl: string): string {
  const origin = typeof location === 'object' ? '(https?://[^/?#@\\s]+)?' : 'https?://[^/?#@\\s]+';
  if (new RegExp(`^${origin}(/[^?#\\s]*)?$`, 'i').test(baseUrl)) return baseUrl.replace(/\/+$/, '');
  throw new TypeError(
    `baseUrl is '${baseUrl}'. Set it to the address of the service, such as https://agents.example.com/ai, without a query or credentials. Only a page can use a path.`,
  );
}

/** Names differ in case: the last one counts. */
function merged(...lists: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const headers = new Headers();
  for (const list of lists) for (const [name, value] of Object.entries(list ?? {})) headers.set(name, value);
  return Object.fromEntries(headers);
}

function searchOf(query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one));
  return `${search}` && `?${search}`;
}
