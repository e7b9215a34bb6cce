import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { errors } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { SharedCounts } from '../net/shared-counts.js';
import { consoleRoutes } from './console/routes.js';
import { type CustomRoutes, customRouteScope } from './custom-routes.js';
import { BodiesInFlight } from './defences/bodies-in-flight.js';
import { ClientAddresses } from './defences/client-address.js';
import { isPreflight } from './defences/cors.js';
import { answerMalformed, headersTimeoutMs } from './defences/malformed.js';
import { RateLimiter } from './defences/rate-limit.js';
import { mostHeaders, mostUnanswered } from './defences/request-bounds.js';
import { RequestGuard } from './defences/request-guard.js';
import { StalledSockets } from './defences/stalled-sockets.js';
import { admit, RouteDispatcher } from './dispatch.js';
import { Exchange, type ExchangeSurroundings, type RequestObserver } from './exchange.js';
import { type HttpServer, httpServer } from './handler.js';
import { documentationRoutes } from './openapi/docs.js';
import { type ApiInfo, describeApi, type PathExamples } from './openapi/openapi.js';
import { originForm, withoutTrailingSlashes } from './request/request-address.js';
import { sendError } from './response/respond.js';
import { EventStreams } from './response/sse.js';
import type { EncodeError, ResolveCaller, Route } from './route.js';
import { refuseUndecidedAccess } from './route-access.js';
import { RouteTable } from './route-table.js';
import { ownRouter } from './router.js';
import type { HttpSettings } from './settings.js';
import { acceptUpgrades, UpgradeGate, type Upgrades } from './upgrades.js';

export interface HttpServerOptions<Services> {
  readonly routes: readonly Route<Services>[];
  readonly services: Services;
  readonly resolveCaller: ResolveCaller;
  /** The operator's own routes on the same application. */
  readonly customRoutes?: CustomRoutes;
  /** WebSocket endpoints on the same port. */
  readonly upgrades?: Upgrades;
  readonly settings: HttpSettings & { readonly docs?: boolean; readonly console?: boolean };
  /** What the API description says about the service. */
  readonly info: ApiInfo;
  readonly pathExamples?: PathExamples | undefined;
  /** The hint for a path that is not served. */
  readonly hintFor?: (path: string) => string | undefined;
  /** The same for a client that opens a WebSocket at a path of a route. */
  readonly webSocketHintFor?: (path: string) => string | undefined;
  readonly log: Log;
  /** Counts the requests. Left out: they are not counted. */
  readonly observer?: RequestObserver | undefined;
  /** What processes of the same service count together. Left out: each counts for itself. */
  readonly sharedCounts?: SharedCounts | undefined;
}

/** Assembles the application: routes, custom routes, error answers, CORS, limits. It does not listen yet. */
export async function createHttpServer<Services>(options: HttpServerOptions<Services>): Promise<HttpServer> {
  const { settings, log } = options;
  const streams = new EventStreams(settings.heartbeatMs);
  const description = describeApi(options.routes, options.info, options.pathExamples);
  const routes: Route<Services>[] = [
    ...options.routes,
    ...documentationRoutes(description, settings.docs ?? true),
    ...((settings.console ?? true) ? consoleRoutes : []),
  ];
  refuseUndecidedAccess(routes);
  const table = new RouteTable(routes);
  const limiter = RateLimiter.of(settings, options.sharedCounts);
  const addresses = new ClientAddresses(settings.trustedProxies);
  const stalled = new StalledSockets(settings.slowClientMs, log);
  const bodies = new BodiesInFlight(settings);
  const requestGuard = new RequestGuard(settings, addresses, log);
  const listener = new RequestListener(
    requestGuard,
    stalled,
    { log, addresses, bodies, observer: options.observer },
    routes,
  );
  const server = createNodeServer(listener, settings, log);
  const answerUnrouted = (exchange: Exchange): void => void answerNotFound(exchange, table, options, limiter);
  const dispatchers = routes.map((route) => new RouteDispatcher(route, { ...options, streams, limiter }));
  const routing = { server, dispatchers, answerUnrouted };
  const { customRoutes, upgrades } = options;
  const router = customRoutes
    ? await (await import('./custom-application.js')).customApplication({
        ...routing,
        custom: customRouteScope(customRoutes, table, options.resolveCaller, limiter),
        maxBodyBytes: settings.maxBodyBytes,
      })
    : ownRouter(routing);
  listener.route = router.route;
  const parts = { server, router, listener, streams, description, ...(upgrades && { upgrades }) };
  // Without an endpoint there is no listener: then Node ignores the offer of another protocol by itself.
  if (!upgrades?.paths.size) return httpServer(parts);
  const gate = new UpgradeGate({ upgrades, requestGuard, stalled, addresses, limiter });
  acceptUpgrades(server, gate);
  return httpServer({ ...parts, gate });
}

/** What happens to every request before it is routed. */
class RequestListener {
  /** Set once the router is there. */
  route: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  /** Whether the service stops: each answer is then the last one on its connection. */
  isLast = false;
  /** Routes whose protocol has errors of its own, by their paths without parameters. */
  readonly #encoders: ReadonlyMap<string, EncodeError>;

  constructor(
    private readonly requestGuard: RequestGuard,
    private readonly stalled: StalledSockets,
    private readonly surroundings: ExchangeSurroundings,
    routes: readonly Pick<Route<never>, 'path' | 'encodeError'>[],
  ) {
    this.#encoders = new Map(
      routes.flatMap(({ path, encodeError }) => (encodeError === undefined ? [] : [[path, encodeError]])),
    );
  }

  receive(request: IncomingMessage, response: ServerResponse, basePath = '', expectsContinue = false): void {
    this.stalled.watch(request.socket);
    if (this.isLast) response.shouldKeepAlive = false;
    request.url = withoutTrailingSlashes(originForm(request.url ?? '/'));
    const exchange = new Exchange(request, response, this.surroundings, basePath, expectsContinue);
    if (exchange.unanswered > mostUnanswered) {
      request.socket.destroy();
      return;
    }
    const { requestGuard } = this;
    const refusal = requestGuard.refusalOf(request);
    if (refusal) {
      sendError(exchange, refusal, undefined, this.#encoders.get(exchange.path));
      return;
    }
    if (isPreflight(request)) {
      requestGuard.cors.answerPreflight(request, response, exchange.requestId);
      return;
    }
    const { origin } = request.headers;
    if (origin !== undefined) exchange.cors = requestGuard.cors.headersFor(origin, request);
    this.route(request, response);
  }
}

function createNodeServer(listener: RequestListener, settings: HttpSettings, log: Log): Server {
  const server = createServer({
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    maxHeaderSize: settings.maxHeaderBytes,
    // These bound how long a request may take to arrive. How long its response takes is not bounded here.
    headersTimeout: Math.min(headersTimeoutMs, settings.requestTimeoutMs),
    requestTimeout: settings.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, settings.requestTimeoutMs),
    keepAliveTimeout: settings.keepAliveMs,
  });
  server.on('request', (request, response) => listener.receive(request, response));
  // A client that asks first gets 100 Continue only when its body is going to be read.
  server.on('checkContinue', (request, response) => listener.receive(request, response, '', true));
  server.on('clientError', (error: Error & { code: string }, socket) =>
    answerMalformed(error, socket, settings),
  );
  // Node drops what is beyond: one more is admitted, so that it can be seen and refused.
  server.maxHeadersCount = mostHeaders + 1;
  server.maxConnections = settings.maxConnections;
  server.on(
    'drop',
    seldom(() => log.warn({ max_connections: settings.maxConnections }, tooManyConnections)),
  );
  return server;
}

const tooManyConnections = 'connections are refused: there are as many as maxConnections allows';
const seldomMs = 60_000;

/** Under attack, what happens thousands of times is logged once a minute. */
function seldom(tell: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last < seldomMs) return;
    last = now;
    tell();
  };
}

/** Only admitted callers learn which paths and methods exist. */
async function answerNotFound(
  exchange: Exchange,
  table: RouteTable,
  { resolveCaller, hintFor }: Pick<HttpServerOptions<unknown>, 'resolveCaller' | 'hintFor'>,
  limiter: RateLimiter | undefined,
): Promise<void> {
  try {
    await admit(exchange, null, {}, resolveCaller, limiter);
    const allowed = table.methodsAt(exchange.path);
    throw allowed.length > 0 ? errors.methodNotAllowed(allowed) : errors.notFound(hintFor?.(exchange.path));
  } catch (error) {
    sendError(exchange, error);
  }
}
