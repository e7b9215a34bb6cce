import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../core/log.js';
import { anonymousCaller, type Caller } from '../auth/caller.js';
import type { BodiesInFlight, BodyOwner } from './defences/bodies-in-flight.js';
import type { ClientAddresses } from './defences/client-address.js';
import { callerKey, isKnown } from './defences/rate-limit.js';
import { calledAddress } from './request/called-address.js';

/** Is notified of the requests of a server, to count them. Its methods must neither fail nor take time. */
export interface RequestObserver {
  /**
   * A request was answered, or its client went away before that (`status` null). A stream counts when it begins. `route`
   * is the template of its path, never the path.
   */
  requestEnded(method: string, route: string, status: number | null, ms: number): void;
}

/** What all exchanges of a server have in common. */
export interface ExchangeSurroundings {
  readonly log: Log;
  readonly addresses: ClientAddresses;
  readonly bodies: BodiesInFlight;
  /** Left out: requests are not counted. */
  readonly observer?: RequestObserver | undefined;
}

const unanswered = Symbol('runyard.unanswered');

type Counted = Socket & { [unanswered]?: number };

const exchangeKey = Symbol('runyard.exchange');

type Marked = (IncomingMessage | ServerResponse) & { [exchangeKey]?: Exchange };

const actingKey = Symbol('runyard.acting');

/** Says in whose name the service itself makes a request: no token proves it, and none is looked for. */
export function actAs(request: IncomingMessage & { [actingKey]?: Caller }, caller: Caller): void {
  request[actingKey] = caller;
}

/** An answer that lasts. */
export interface ResponseStream {
  /** The client has taken what was written. */
  resume(): void;
  /** The client is gone. */
  release(): void;
}

/** One request and its answer, for as long as the answer lasts. It holds no body: streams may live for hours. */
export class Exchange {
  readonly requestId: string;
  readonly startedAt = performance.now();
  /** Without the query: values in it may be secrets. */
  readonly path: string;
  /** Headers for a browser page of another origin; undefined when the request has no origin. */
  cors: readonly string[] | undefined = undefined;
  /** Who calls, once that is resolved. */
  caller: Caller = anonymousCaller;
  /** In whose name the service itself makes the request; undefined for a request from outside. */
  readonly acting: Caller | undefined;
  /** What the client may have meant otherwise. */
  hint: string | undefined = undefined;
  /** The template of the path that answers it; a path that is not served has none. */
  route = 'unmatched';
  /** The stream that answers it, if one does. */
  stream: ResponseStream | undefined = undefined;
  #isCounted = false;
  #abort: AbortController | undefined;

  constructor(
    readonly request: IncomingMessage & { [actingKey]?: Caller },
    readonly response: ServerResponse,
    private readonly surroundings: ExchangeSurroundings,
    readonly basePath: string,
    /** The client waits for a sign before it sends its body. */
    readonly expectsContinue: boolean,
  ) {
    this.requestId = requestIdOf(request);
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    this.path = query === -1 ? url : url.slice(0, query);
    this.acting = request[actingKey];
    mark(request, this);
    mark(response, this);
    response.on('close', closed);
    const socket: Counted = request.socket;
    socket[unanswered] = (socket[unanswered] ?? 0) + 1;
  }

  get log(): Log {
    return this.surroundings.log;
  }

  get bodies(): BodiesInFlight {
    return this.surroundings.bodies;
  }

  /** Whom the bytes of the body count for. */
  get bodyOwner(): BodyOwner {
    return { key: callerKey(this.caller, this.clientAddress), isKnown: isKnown(this.caller) };
  }

  /** How long a body may take for the least that it has to bring. */
  get slowClientMs(): number {
    return this.surroundings.bodies.spanMs;
  }

  get clientAddress(): string {
    return this.surroundings.addresses.of(this.request);
  }

  /** The address by which the client reaches the service. */
  get calledAddress(): string {
    return calledAddress(this.request, this.surroundings.addresses, this.basePath);
  }

  /** How many requests of the same connection wait for their answers, this one included. */
  get unanswered(): number {
    const socket: Counted = this.request.socket;
    return socket[unanswered] ?? 0;
  }

  /** Made only for those who ask: most handlers do not. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.response.destroyed && !this.response.writableFinished) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Whether an error only says that the work was given up because the client went away. */
  isAbandonment(error: unknown): boolean {
    const signal = this.#abort?.signal;
    return signal?.aborted === true && error === signal.reason;
  }

  /** Counts the request: a stream when it begins, everything else when it is over. */
  count(): void {
    const { observer } = this.surroundings;
    // what the service asks of itself is no request from outside
    if (observer === undefined || this.#isCounted || this.acting !== undefined) return;
    this.#isCounted = true;
    const { request, response } = this;
    const method = usualMethods.has(request.method ?? '') ? (request.method ?? '') : 'other';
    const status = response.headersSent ? response.statusCode : null;
    observer.requestEnded(method, this.route, status, performance.now() - this.startedAt);
  }

  close(): void {
    const { request, response } = this;
    this.count();
    const complete = response.writableFinished;
    const socket: Counted = request.socket;
    socket[unanswered] = this.unanswered - 1;
    if (!complete) this.#abort?.abort();
    this.log.info(
      {
        request_id: this.requestId,
        method: request.method,
        path: this.path,
        status: response.headersSent ? response.statusCode : null,
        duration_ms: Math.round((performance.now() - this.startedAt) * 100) / 100,
        ...(complete ? undefined : { client_gone: true }),
      },
      'request',
    );
    this.stream?.release();
  }
}

const usualMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

function mark(message: Marked, exchange: Exchange): void {
  message[exchangeKey] = exchange;
}

export function exchangeOf(message: Marked): Exchange {
  const exchange = message[exchangeKey];
  if (!exchange) throw new Error('This request did not arrive through the HTTP platform.');
  return exchange;
}

function closed(this: ServerResponse): void {
  exchangeOf(this).close();
}

// What a client sends ends up in logs and headers: only plain, short ids are taken over.
const sanePattern = /^[\w.:@/+=-]{1,128}$/;

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && sanePattern.test(given) ? given : randomUUID();
}
