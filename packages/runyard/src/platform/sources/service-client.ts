import { z } from 'zod';
import { errors } from '../../core/errors/errors.js';
import { RunyardError } from '../../core/errors/runyard-error.js';
import { type Json, parseJson } from '../../core/json.js';
import { shownFault } from '../net/fetch-content.js';
import { type GuardedFetchOptions, type GuardedStream, guardedStream } from '../net/guarded-fetch.js';
import { whole } from './bytes.js';
import type { Lent, Remembered } from './credentials.js';
import { withRetries } from './retries.js';
import { parseXml, type XmlElement } from './xml.js';

export interface ServiceRequest {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For error texts: `list files`. */
  readonly work: string;
  /** The file that is asked for: an answer with status 404 says that it is missing. */
  readonly path?: string;
}

/** What a service answered instead of what was asked for. */
export interface ServiceFault {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly text: string;
}

export interface ServiceSettings<Proof> {
  /** Of the source. */
  readonly id: string;
  /** As in `Invalid or missing AWS credentials`. */
  readonly service: string;
  readonly credentials: Remembered<Proof>;
  /** The request with what proves who asks. */
  sign(request: ServiceRequest, proof: Proof): ServiceRequest | Promise<ServiceRequest>;
  /** The error for an answer; undefined for what all services have in common. */
  faultOf?(fault: ServiceFault): RunyardError | undefined;
  readonly allowedHosts: readonly string[];
  readonly maxFileBytes: number;
}

/** Of a listing or a token. */
const answerBytes = 50_000_000;
const answerTimeoutMs = 60_000;
const faultBytes = 64_000;
const fileTimeoutMs = 3_600_000;
const idleMs = 30_000;
const retryMs = 300;

/** Sends signed requests to one service, through the guard. Its errors hold no address, secret or answer. */
export class ServiceClient<Proof> {
  readonly #settings: ServiceSettings<Proof>;

  constructor(settings: ServiceSettings<Proof>) {
    this.#settings = settings;
  }

  /** What is needed of an answer in JSON. */
  async json<Schema extends z.ZodType>(
    schema: Schema,
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> {
    const text = await this.#text(request, signal);
    const { data, error } = schema.safeParse(jsonOf(text));
    if (error === undefined) return data;
    const place = error.issues[0]?.path.join('.') || 'what was asked for';
    throw errors.sourceFailed(request.work, `the answer of the service lacks '${place}'.`);
  }

  async xml(request: ServiceRequest, signal: AbortSignal): Promise<XmlElement> {
    const text = await this.#text(request, signal);
    try {
      return parseXml(text);
    } catch {
      throw errors.sourceFailed(request.work, 'the service did not answer with XML that can be read.');
    }
  }

  /** The headers of the answer. */
  async head(request: ServiceRequest, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const answer = await this.#open({ ...request, method: 'HEAD' }, signal, 0, answerTimeoutMs);
    answer.close();
    return answer.headers;
  }

  /** The body, while it arrives. */
  async *stream(request: ServiceRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { body } = await this.#open(request, signal, this.#settings.maxFileBytes, fileTimeoutMs);
    yield* body;
  }

  async #text(request: ServiceRequest, signal: AbortSignal): Promise<string> {
    const { body } = await this.#open(request, signal, answerBytes, answerTimeoutMs);
    return (await whole(body, answerBytes, 'The answer')).toString();
  }

  /** An answer of success. A proof that is refused is renewed once. */
  async #open(
    request: ServiceRequest,
    signal: AbortSignal,
    maximumBytes: number,
    timeoutMs: number,
  ): Promise<GuardedStream> {
    const { service, credentials, sign, allowedHosts } = this.#settings;
    const ask = async (proof: Proof) =>
      send(await sign(request, proof), { allowedHosts, maximumBytes, timeoutMs, signal });
    const withoutProof = (error: unknown): never => {
      throw error instanceof RunyardError ? error : errors.sourceCredentialsRefused(service, error);
    };
    const proof = await credentials.get().catch(withoutProof);
    let answer = await ask(proof);
    if (isRefusal(answer)) {
      const other = await credentials.instead(proof).catch(withoutProof);
      if (other !== undefined) {
        answer.close();
        answer = await ask(other);
      }
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw await this.#faultOf(request, answer);
  }

  async #faultOf({ work, path }: ServiceRequest, answer: GuardedStream): Promise<RunyardError> {
    const { id, service, faultOf } = this.#settings;
    const { status, headers } = answer;
    const text = await beginningOf(answer);
    const fault = faultOf?.({ status, headers, text });
    if (fault !== undefined) return fault;
    if (status === 401 || status === 403) return errors.sourceCredentialsRefused(service);
    if (status === 404 && path !== undefined) return errors.sourceFileMissing(id, path);
    return errors.sourceFailed(work, `the service answered with status ${status}.`);
  }
}

/** A limit of requests is no matter of credentials, whatever its status. */
function isRefusal({ status, headers }: GuardedStream): boolean {
  return status === 401 || (status === 403 && headers['x-ratelimit-remaining'] !== '0');
}

/** Sends a signed request. From here on, no error and no body says its address. */
async function send(
  { url, method = 'GET', headers = {}, body, work }: ServiceRequest,
  bounds: GuardedFetchOptions & { readonly signal: AbortSignal },
): Promise<GuardedStream> {
  const options = { ...bounds, idleMs, method, headers, ...(body !== undefined && { body }) };
  const failure = (error: unknown): unknown =>
    bounds.signal.aborted
      ? bounds.signal.reason
      : errors.sourceFailed(work, shownFault(error).message.replaceAll(url, new URL(url).host));
  try {
    const answer = await withRetries(() => guardedStream(url, options), bounds.signal, { delayMs: retryMs });
    return { ...answer, body: shownBody(answer.body, failure) };
  } catch (error) {
    throw failure(error);
  }
}

async function* shownBody(
  body: AsyncIterable<Uint8Array>,
  failure: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(error);
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

async function beginningOf({ body, close }: GuardedStream): Promise<string> {
  try {
    return (await whole(body, faultBytes, 'The answer')).toString();
  } catch {
    return '';
  } finally {
    close();
  }
}

/** Asks a token service. What is sent is a secret: it follows no redirect. */
export async function requestToken<Schema extends z.ZodType<IssuedToken>>(
  service: string,
  request: Omit<ServiceRequest, 'work'>,
  schema: Schema,
): Promise<Lent<string>> {
  const work = 'get a token';
  const signal = AbortSignal.timeout(answerTimeoutMs);
  // a token service is named by the operator, in the options or in a key file
  const allowedHosts = [new URL(request.url).host];
  const bounds = { allowedHosts, maximumBytes: faultBytes, maximumRedirects: 0, timeoutMs: answerTimeoutMs };
  const asked = Date.now();
  const answer = await send({ method: 'POST', ...request, work }, { ...bounds, signal });
  const text = await beginningOf(answer);
  const { status } = answer;
  // 400 is what OAuth answers for a wrong secret
  if (status >= 400 && status < 500 && status !== 429) throw errors.sourceCredentialsRefused(service);
  const issued = status < 300 ? schema.safeParse(jsonOf(text)).data : undefined;
  if (issued === undefined)
    throw errors.sourceFailed(work, `the token service answered with status ${status} and no token.`);
  // used until shortly before its end: a request with it takes a while to arrive
  return { value: issued.token, until: asked + issued.lifetimeMs - Math.min(60_000, issued.lifetimeMs / 10) };
}

interface IssuedToken {
  readonly token: string;
  readonly lifetimeMs: number;
}

/** The answer of an OAuth token service. */
export const oauthToken = z
  .object({ access_token: z.string(), expires_in: z.coerce.number().default(300) })
  .transform(({ access_token, expires_in }) => ({ token: access_token, lifetimeMs: expires_in * 1000 }));

export function bearer(request: ServiceRequest, token: string): ServiceRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
}
