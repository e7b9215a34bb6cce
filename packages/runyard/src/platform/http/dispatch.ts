import type { IncomingHttpHeaders } from 'node:http';
import { errors, RunyardError, type ValidationItem } from '../../core/errors/errors.js';
import { anonymousCaller, type Caller } from '../auth/caller.js';
import { refusalHeaders } from './defences/cors.js';
import type { RateLimiter } from './defences/rate-limit.js';
import type { Exchange } from './exchange.js';
import { ClientGone, hasBody, mediaType, readBody } from './request/body.js';
import { fileFields, repeatableFields } from './request/fields.js';
import { readForm, readStreamedForm } from './request/forms.js';
import { checkCharset, JsonForms, parseJsonBody } from './request/json-body.js';
import { MisspeltFields } from './request/misspelt-fields.js';
import { StreamedFiles } from './request/streamed-file.js';
import { validatePart } from './request/validation.js';
import { sendJsonPieces } from './response/json-stream.js';
import { sendContent, sendError, sendJson, sendReply } from './response/respond.js';
import { ContentReply, EventStreamReply, JsonPiecesReply, Reply } from './response/results.js';
import { type EventStreams, type Objection, writeEventStream } from './response/sse.js';
import type { AccessRequest, RequiredScope, ResolveCaller, Route, RouteRequest } from './route.js';
import type { HttpSettings } from './settings.js';
import { offersWebSocket } from './upgrades.js';

export interface DispatchOptions<Services> {
  readonly services: Services;
  readonly resolveCaller: ResolveCaller;
  readonly settings: HttpSettings;
  readonly streams: EventStreams;
  /** Left out, callers may ask as often as they like. */
  readonly limiter?: RateLimiter | undefined;
  /** The hint for a client that opens a WebSocket at a path of a route. */
  readonly webSocketHintFor?: ((path: string) => string | undefined) | undefined;
}

/** Monitoring has to get through when the service is under attack. */
const unlimitedPath = '/health';

type Texts = Readonly<Record<string, string>>;
type QueryValues = Readonly<Record<string, string | string[]>>;

/** What follows from the schemas of a route. */
class RequestFields {
  readonly repeatableInBody: ReadonlySet<string>;
  readonly repeatableInQuery: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly jsonForms: JsonForms;
  readonly misspelt: MisspeltFields;

  private static readonly known = new WeakMap<object, RequestFields>();

  private constructor({ body, query, accepts }: Pick<Route<never>, 'body' | 'query' | 'accepts'>) {
    this.misspelt = new MisspeltFields(body);
    this.jsonForms = new JsonForms(accepts === 'form' ? body : undefined);
    this.repeatableInBody = repeatableFields(body);
    this.repeatableInQuery = repeatableFields(query);
    this.files = fileFields(body);
  }

  /** Worked out once, at the first request: a start does not pay for routes that are not requested. */
  static of(route: Pick<Route<never>, 'body' | 'query' | 'accepts'>): RequestFields {
    const fields = RequestFields.known.get(route) ?? new RequestFields(route);
    RequestFields.known.set(route, fields);
    return fields;
  }
}

/** Answers the requests of a route. */
export class RouteDispatcher<Services> {
  readonly #form: boolean;
  readonly #limiter: RateLimiter | undefined;
  readonly #resolve: ResolveCaller;

  constructor(
    readonly route: Route<Services>,
    private readonly options: DispatchOptions<Services>,
  ) {
    this.#form = route.accepts === 'form';
    const { services, resolveCaller } = options;
    const { admit: admitted } = route;
    this.#resolve = admitted ? (request) => admitted(services, request, resolveCaller) : resolveCaller;
    this.#limiter = route.path === unlimitedPath ? undefined : options.limiter;
  }

  get #fields(): RequestFields {
    return RequestFields.of(this.route);
  }

  /** Answers a request; never rejects. It waits only for what really takes time. */
  async dispatch(exchange: Exchange, params: Texts, query: QueryValues): Promise<void> {
    let admitted = false;
    exchange.route = this.route.path;
    try {
      const resolved = this.#resolveCaller(exchange, params);
      const caller = resolved instanceof Promise ? await resolved : resolved;
      exchange.caller = caller;
      admitted = true;
      const call = new Call(exchange, caller, this.#limiter);
      let result: unknown;
      if (this.route.uploads) result = this.#receive(exchange, call, params, query);
      else {
        const body = this.route.body === undefined ? undefined : await this.#readBody(exchange);
        result = this.#answer(exchange, call, this.#address(call, params, query), body);
      }
      const answer = result instanceof Promise ? await result : result;
      if (answer instanceof JsonPiecesReply)
        await sendJsonPieces(exchange, answer.pieces, answer.headers, answer.contentType);
      else if (answer instanceof EventStreamReply) this.#stream(exchange, answer, caller, params);
      else this.#send(exchange, answer);
    } catch (error) {
      if (error instanceof ClientGone || exchange.isAbandonment(error)) return;
      const headers = admitted || !mayRead(exchange) ? undefined : refusalHeaders;
      sendError(exchange, this.#withoutWebSocket(exchange, error), headers, this.route.encodeError);
    }
  }

  /** A client that opens a WebSocket at `/agents/ws` does not look for an agent with the id `ws`. */
  #withoutWebSocket({ request, path }: Exchange, error: unknown): unknown {
    if (!(error instanceof RunyardError) || error.status !== 404 || !offersWebSocket(request)) return error;
    const hint = this.options.webSocketHintFor?.(path);
    return hint === undefined ? error : errors.notFound(hint);
  }

  #resolveCaller(exchange: Exchange, params: Texts): Caller | Promise<Caller> {
    const { scope, public: isPublic } = this.route;
    if (!isPublic) return admit(exchange, scope ?? null, params, this.#resolve, this.#limiter);
    this.#limiter?.takeFor(anonymousCaller, exchange.clientAddress);
    return anonymousCaller;
  }

  /** Answers a request with a form whose files are stored while they arrive. What the handler does not take is removed. */
  async #receive(exchange: Exchange, call: Call, params: Texts, query: QueryValues): Promise<unknown> {
    const { services, settings } = this.options;
    const items = this.#address(call, params, query);
    if (items.length > 0) throw errors.invalidRequest(items);
    assertPlain(exchange);
    const sink = await this.route.uploads?.(services, call);
    if (sink === undefined) throw new Error(`${this.route.operationId} has no place for uploads.`);
    const files = new StreamedFiles(sink);
    try {
      const { repeatableInBody: repeatable, files: ofFiles, jsonForms } = this.#fields;
      const fields = { repeatable, files: ofFiles };
      const body = await readStreamedForm(exchange, fields, jsonForms, settings, files);
      return await this.#answer(exchange, call, items, body);
    } finally {
      await files.removeUntaken(exchange.log);
    }
  }

  #answer(exchange: Exchange, call: Call, items: ValidationItem[], body: unknown): unknown {
    const { route } = this;
    exchange.hint = this.#fields.misspelt.hintFor(body);
    if (route.body) {
      const checked = validatePart('body', route.body, body, this.#form);
      if (checked.ok) call.body = checked.value;
      else items.push(...checked.items);
    }
    if (items.length > 0) throw errors.invalidRequest(items);
    return route.handler(this.options.services, call);
  }

  /** Checks everything but the body, and answers with the faults. */
  #address(call: Call, params: Texts, query: QueryValues): ValidationItem[] {
    const { route } = this;
    const items: ValidationItem[] = [];
    if (route.params) {
      const checked = validatePart('path', route.params, params);
      if (checked.ok) call.params = checked.value;
      else items.push(...checked.items);
    }
    if (route.query) {
      const checked = validatePart('query', route.query, this.#queryValues(query));
      if (checked.ok) call.query = checked.value;
      else items.push(...checked.items);
    }
    if (route.headers) {
      const checked = validatePart('header', route.headers, call.headers);
      if (!checked.ok) items.push(...checked.items);
    }
    return items;
  }

  /** Of a parameter that is given several times the last one counts, unless it is a list. */
  #queryValues(query: QueryValues): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const name in query) {
      // no parameter has this name, and here it would not become one but another prototype
      if (name === '__proto__') continue;
      const value = query[name];
      const list = this.#fields.repeatableInQuery.has(name);
      if (Array.isArray(value) === list) values[name] = value;
      else values[name] = list ? [value] : value?.at(-1);
    }
    return values;
  }

  #readBody(exchange: Exchange): Promise<unknown> {
    assertPlain(exchange);
    if (this.#form) {
      const { repeatableInBody, jsonForms } = this.#fields;
      return readForm(exchange, repeatableInBody, jsonForms, this.options.settings);
    }
    const setting = this.route.carriesFiles ? 'maxUploadBytes' : 'maxBodyBytes';
    if (this.route.accepts === 'bytes')
      return readBody(exchange, { bytes: this.options.settings[setting], setting });
    return readJson(exchange, { bytes: this.options.settings[setting], setting });
  }

  /** A stream outlives the moment at which its caller was admitted: the check is repeated while it is open. */
  #objectionTo(caller: Caller, exchange: Exchange, params: Texts): Objection | undefined {
    if (!caller.proven) return undefined;
    const request = accessRequest(exchange, this.route.scope ?? null, params);
    return async () => {
      try {
        const { userId } = await this.#resolve(request);
        // an open service serves the holder of a revoked token as it serves everyone: this stream was not theirs
        return userId === caller.userId ? undefined : errors.invalidAccountToken();
      } catch (error) {
        // while nothing can be looked up, no caller is known to have been refused
        return error instanceof RunyardError && error.status < 500 ? error : undefined;
      }
    };
  }

  #stream(exchange: Exchange, { source, headers }: EventStreamReply, caller: Caller, params: Texts): void {
    const objection = this.#objectionTo(caller, exchange, params);
    writeEventStream(exchange, source, this.options.streams, headers, objection);
  }

  #send(exchange: Exchange, result: unknown): void {
    if (result instanceof ContentReply) {
      sendContent(exchange, result.status, result.content, result.contentType, result.headers);
    } else if (!(result instanceof Reply)) {
      sendJson(exchange, 200, result);
    } else sendReply(exchange, result);
  }
}

function assertPlain(exchange: Exchange): void {
  const encoding = exchange.request.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  throw errors.unsupportedMediaType(`with content encoding ${encoding}`, [
    'the body without content encoding',
  ]);
}

/** Who calls, if they may, and if they have not called too often. Nothing of the body was read by then. */
export function admit(
  exchange: Exchange,
  scope: RequiredScope,
  params: Texts,
  resolveCaller: ResolveCaller,
  limiter: RateLimiter | undefined,
): Caller | Promise<Caller> {
  const request = accessRequest(exchange, scope, params);
  return limiter === undefined ? resolveCaller(request) : admitLimited(request, resolveCaller, limiter);
}

function accessRequest(exchange: Exchange, scope: RequiredScope, params: Texts): AccessRequest {
  const { method = '', headers } = exchange.request;
  const { path, basePath, acting } = exchange;
  return { method, path, headers, scope, params, client: exchange, basePath, acting };
}

async function admitLimited(
  request: AccessRequest,
  resolveCaller: ResolveCaller,
  limiter: RateLimiter,
): Promise<Caller> {
  // read now: a socket that is closed while the token is checked has no address
  const { clientAddress } = request.client;
  let caller: Caller;
  try {
    caller = await resolveCaller(request);
  } catch (error) {
    limiter.takeForRefused(error, clientAddress);
    throw error;
  }
  limiter.takeFor(caller, clientAddress);
  return caller;
}

/** Whether the request comes from a page of an origin that may read the answer. */
function mayRead(exchange: Exchange): boolean {
  return exchange.cors?.includes('access-control-allow-origin') ?? false;
}

class Call implements RouteRequest<unknown, unknown, unknown> {
  params: unknown = undefined;
  query: unknown = undefined;
  body: unknown = undefined;

  constructor(
    private readonly exchange: Exchange,
    readonly caller: Caller,
    private readonly limiter: RateLimiter | undefined,
  ) {}

  spend(): void {
    this.limiter?.takeFor(this.caller, this.clientAddress);
  }

  get signal(): AbortSignal {
    return this.exchange.signal;
  }

  get requestId(): string {
    return this.exchange.requestId;
  }

  get headers(): IncomingHttpHeaders {
    return this.exchange.request.headers;
  }

  get basePath(): string {
    return this.exchange.basePath;
  }

  get calledAddress(): string {
    return this.exchange.calledAddress;
  }

  get clientAddress(): string {
    return this.exchange.clientAddress;
  }
}

async function readJson(exchange: Exchange, limit: Parameters<typeof readBody>[1]): Promise<unknown> {
  if (!hasBody(exchange)) return undefined;
  const type = mediaType(exchange.request.headers['content-type']);
  const isJson = type === 'application/json' || type.endsWith('+json');
  if (!isJson && type !== '') throw errors.unsupportedMediaType(type, ['application/json']);
  checkCharset(exchange.request.headers['content-type']);
  const bytes = await readBody(exchange, limit);
  if (bytes.length === 0) return undefined;
  // a page can send bytes without a type anywhere, without a preflight request
  if (!isJson) throw errors.unsupportedMediaType('', ['application/json']);
  return parseJsonBody(bytes);
}
