import { backOffMs, pause } from './back-off.js';
import { apiError, isTransient, NetworkError } from './errors.js';
import { type ReportProgress, uploadWith } from './upload.js';

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
    return this.#repeated(request, async (response) => {
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return reached(request, async () => {
        const text = await response.text();
        return isJson ? JSON.parse(text) : text || undefined;
      });
    });
  }

  /** The response, before its body has come. */
  open(request: Request): Promise<Response> {
    return this.#repeated(request, (response) => response);
  }

  async #repeated<T>(request: Request, read: (response: Response) => T | Promise<T>): Promise<T> {
    const { repeatable = request.method === 'GET', retries = this.retries, signal } = request;
    for (let failures = 0; ; failures += 1) {
      try {
        return await read(await this.#authorized(request));
      } catch (error) {
        if (!repeatable || failures >= retries || !isTransient(error)) throw error;
        await pause(backOffMs(failures, error), signal);
      }
    }
  }

  async #authorized(request: Request): Promise<Response> {
    const token = this.#token ?? this.#newToken();
    let response = await this.#send(request, await token);
    if (response.status === 401 && typeof this.#options.token === 'function') {
      // of several requests that are refused at once, the first gets the new token for all
      if (this.#token === token) this.#newToken();
      const renewed = await (this.#token ?? this.#newToken());
      if (renewed !== (await token)) {
        await response.body?.cancel();
        response = await this.#send(request, renewed);
      }
    }
    if (response.ok) return response;
    throw await apiError(response);
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

  #send({ method, path, query, body, signal, ...request }: Request, token: string): Promise<Response> {
    const { baseUrl, fetch = globalThis.fetch.bind(globalThis) } = this.#options;
    const url = baseUrl.replace(/\/+$/, '') + path + searchOf(query);
    const data = body && encoded(body);
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(typeof data === 'string' && { 'content-type': 'application/json' }),
      ...this.#options.headers,
      ...request.headers,
    };
    const { onUploadProgress } = request;
    return reached({ method, path, signal }, () =>
      data !== undefined && onUploadProgress
        ? uploadWith(fetch, { url, method, headers, body: data, signal }, onUploadProgress)
        : fetch(url, {
            method,
            headers,
            ...(data !== undefined && { body: data }),
            ...(signal && { signal }),
          }),
    );
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new NetworkError(`${method} ${path}: ${reason}`, { cause: error });
  }
}

function searchOf(query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one));
  return `${search}` && `?${search}`;
}

/** JSON; a form if there are files in it. */
function encoded(body: object): string | FormData {
  if (body instanceof FormData) return body;
  const fields = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  if (!fields.some(([, value]) => [value].flat().some(isFile))) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of fields)
    for (const one of isFile([value].flat()[0]) ? [value].flat() : [value])
      form.append(name, isFile(one) || typeof one === 'string' ? one : JSON.stringify(one));
  return form;
}

function isFile(value: unknown): value is Blob {
  return value instanceof Blob;
}
