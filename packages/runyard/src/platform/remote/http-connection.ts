import { errorCode } from '../../core/errors/error-code.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { RemoteConnection } from '../../core/remote/remote-options.js';
import { RemoteFault } from '../../core/remote/remote-service.js';

/** How long a service may take to begin its answer, and how long a stream may be silent. Services send comments in between. */
const silentMs = 60_000;
/** How many bytes a body may have that is read as a whole. */
const largestBody = 64 * 1024 * 1024;
/** How many bytes of an error are read. */
const largestError = 64 * 1024;
/** How many characters of an answer are repeated in an error. */
const longestReason = 500;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Where, from the address of the service on. */
  readonly path: string;
  readonly body?: FormData | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Requests to one service, with its token, within bounds. A redirect is not followed: it would take the token along. */
export class HttpConnection {
  readonly address: string;

  constructor(private readonly options: RemoteConnection) {
    this.address = options.url.replace(/\/+$/, '');
  }

  /** The parts of an event stream as they come. Leaving it closes the connection. */
  async *stream(request: HttpRequest): AsyncGenerator<Uint8Array> {
    const silence = new Silence(request.signal);
    try {
      const response = await this.answer({ ...request, signal: silence.signal }, 'text/event-stream');
      const type = response.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) {
        await response.body?.cancel();
        throw new RemoteFault(
          'refused',
          `it answers with '${type}' and not with a stream of events`,
          response.status,
        );
      }
      for await (const chunk of response.body ?? []) {
        silence.broken();
        yield chunk;
      }
    } catch (error) {
      throw this.fault(error, request.signal);
    } finally {
      silence.end();
    }
  }

  async json(request: HttpRequest): Promise<JsonObject> {
    const silence = new Silence(request.signal);
    try {
      const response = await this.answer({ ...request, signal: silence.signal }, 'application/json');
      const text = await bodyOf(response, silence);
      const value: unknown = text === '' ? {} : parsed(text);
      if (!isJsonObject(value))
        throw new RemoteFault('refused', 'its answer is no JSON object', response.status);
      return value;
    } catch (error) {
      throw this.fault(error, request.signal);
    } finally {
      silence.end();
    }
  }

  private async answer(request: HttpRequest, accept: string): Promise<Response> {
    const { method, path, body, headers, signal } = request;
    const token = await this.token();
    const response = await fetch(`${this.address}${path}`, {
      method,
      headers: headersOf({
        accept,
        ...headers,
        ...this.options.headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }),
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body }),
    });
    if (response.ok) return response;
    throw await faultOf(response);
  }

  private async token(): Promise<string | undefined> {
    const { token } = this.options;
    if (typeof token === 'function') {
      try {
        return await token();
      } catch (error) {
        throw new RemoteFault('refused', 'the function that returns the token failed', undefined, {
          cause: error,
        });
      }
    }
    if (typeof token !== 'object') return token;
    const value = process.env[token.env];
    if (value === undefined || value === '')
      throw new RemoteFault(
        'refused',
        `the environment variable ${token.env}, which holds the token, is not set`,
      );
    return value;
  }

  private fault(error: unknown, caller: AbortSignal): unknown {
    if (caller.aborted) return caller.reason;
    if (error instanceof RemoteFault) return error;
    const cause = error instanceof Error ? error.cause : undefined;
    const reason = errorCode(cause) ?? errorCode(error) ?? 'the connection was lost';
    return new RemoteFault('unreachable', reason, undefined, { cause: error });
  }
}

/** Aborts with the caller, or when nothing has come for a while. */
class Silence {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly stop = (): void => this.controller.abort(this.caller.reason);

  constructor(private readonly caller: AbortSignal) {
    const silent = new RemoteFault('unreachable', `nothing came for ${silentMs} ms`);
    this.timer = setTimeout(() => this.controller.abort(silent), silentMs).unref();
    if (caller.aborted) this.stop();
    else caller.addEventListener('abort', this.stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  broken(): void {
    this.timer.refresh();
  }

  end(): void {
    clearTimeout(this.timer);
    this.caller.removeEventListener('abort', this.stop);
  }
}

/** What Node says of a header that it does not send repeats it: it may be the token. */
function headersOf(given: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers(given);
  } catch {
    throw new RemoteFault(
      'refused',
      'the token, or one of the headers, has characters that no header carries',
    );
  }
}

async function bodyOf(response: Response, silence: Silence): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    silence.broken();
    size += chunk.length;
    if (size > largestBody) throw new RemoteFault('refused', `its answer has more than ${largestBody} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function faultOf(response: Response): Promise<RemoteFault> {
  const { status } = response;
  const body = parsed(await beginningOf(response));
  const reason = reasonIn(body) ?? `status ${status}`;
  if (status >= 300 && status < 400)
    return new RemoteFault('refused', 'it redirects, which is not followed', status);
  // what is asked too often, or while a service restarts, can be asked again
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return new RemoteFault('unreachable', reason, status);
  if (status === 404 && /\b(?:run|task)\b/i.test(reason)) return new RemoteFault('absent', reason, status);
  return new RemoteFault(status === 409 ? 'conflict' : 'refused', reason + hintIn(body), status);
}

/** What the other service says beside the reason, such as the ids that it has. */
function hintIn(body: unknown): string {
  return isJsonObject(body) && typeof body.hint === 'string' ? `. ${body.hint.slice(0, longestReason)}` : '';
}

/** An error may have a body without end. */
async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > largestError) break;
    }
  } catch {
    // the status says enough
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reasonIn(body: unknown): string | undefined {
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error.message : undefined;
  const detail = isJsonObject(body) ? (body.detail ?? error) : undefined;
  if (detail === undefined || detail === null) return undefined;
  return (typeof detail === 'string' ? detail : JSON.stringify(detail)).slice(0, longestReason);
}
