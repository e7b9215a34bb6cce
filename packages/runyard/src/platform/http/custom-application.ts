import { createRequire } from 'node:module';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { RouteDispatcher } from './dispatch.js';
import { exchangeOf } from './exchange.js';
import { sendError } from './response/respond.js';
import { maxParameterLength, type Router, type RouterOptions } from './router.js';

export interface CustomApplicationOptions<Services> extends RouterOptions<Services> {
  /** The plugin with the operator's routes. */
  readonly custom: (app: FastifyInstance) => Promise<void>;
  readonly maxBodyBytes: number;
}

/**
 * A fastify application with the operator's routes and ours: of two that match a request, the more exact one answers.
 * A service without such routes does without fastify, which takes a tenth of a start.
 */
export async function customApplication<Services>(
  options: CustomApplicationOptions<Services>,
): Promise<Router> {
  const { server, dispatchers, answerUnrouted } = options;
  let route: Router['route'] = () => {};
  const app = buildApp(options, (handler) => {
    route = handler;
    return server;
  });
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    answerUnrouted(exchangeOf(request.raw));
  });
  for (const dispatcher of dispatchers) addRoute(app, dispatcher);
  app.register(options.custom);
  await app.ready();
  return {
    route: (request, response) => route(request, response),
    listen: async (address) => void (await app.listen(address)),
    close: () => app.close(),
  };
}

function buildApp<Services>(
  { server, maxBodyBytes }: CustomApplicationOptions<Services>,
  serverFactory: (handler: Router['route']) => typeof server,
): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: (request) => exchangeOf(request).requestId,
    // A GET route is no HEAD route: that is what the contract says, and a stream has no head to speak of.
    exposeHeadRoutes: false,
    // While the service stops, its own parts decide what they still do.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    bodyLimit: maxBodyBytes,
    routerOptions: { maxParamLength: maxParameterLength },
    schemaController: { compilersFactory: lazyCompilers() },
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
    // the server answers by itself what is not HTTP
    clientErrorHandler: () => {},
    serverFactory,
  });
  // the type of the server is no part of what is used here
  return app as unknown as FastifyInstance;
}

/**
 * Our routes are answered in fastify's first hook: its parsing, validation and serialisation have nothing to do
 * for them, and stay there for the operator's routes.
 */
function addRoute<Services>(app: FastifyInstance, dispatcher: RouteDispatcher<Services>): void {
  const answer = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    // as the router and the query parser fill them
    const [params, query] = [request.params, request.query] as Record<string, string>[];
    void dispatcher.dispatch(exchangeOf(request.raw), params ?? {}, query ?? {});
  };
  const { method, path } = dispatcher.route;
  app.route({ method, url: path, onRequest: answer, handler: answer });
}

/** fastify would load two schema compilers at start, 40 ms of it. Only routes with schemas need them. */
function lazyCompilers() {
  const lazily =
    (load: () => ReturnType<NodeJS.Require>) =>
    (...args: unknown[]) =>
      load()()(...args);
  return {
    buildValidator: lazily(() => createRequire(import.meta.url)('@fastify/ajv-compiler')),
    buildSerializer: lazily(() => createRequire(import.meta.url)('@fastify/fast-json-stringify-compiler')),
  };
}

/** Errors that fastify or a custom route raised, in the form of all others. */
function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  sendError(exchangeOf(request.raw), translate(error));
}

function translate(error: FastifyError): unknown {
  if (error instanceof RunyardError) return error;
  if (error.code === 'FST_ERR_BAD_URL') return errors.badUrl();
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return new RunyardError('bad_request', status, error.message);
  return error;
}
