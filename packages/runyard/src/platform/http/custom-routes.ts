import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '../../core/errors/errors.js';
import { runAsOwner } from '../../core/runs/execution/code-owner.js';
import type { Caller } from '../auth/caller.js';
import type { RateLimiter } from './defences/rate-limit.js';
import { admit } from './dispatch.js';
import { exchangeOf } from './exchange.js';
import type { ResolveCaller } from './route.js';
import type { RouteTable } from './route-table.js';

/** Registers the operator's own routes: a fastify plugin on the same application. */
export type CustomRoutes = (app: FastifyInstance) => void | Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request; null for the service's own routes, which get the caller handed in. */
    caller: Caller | null;
  }
}

/** What follows the hook belongs to the route. */
function inNameOfRoute(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { method, url = '(not found)' } = request.routeOptions;
  const route = `${[method].flat()[0] ?? request.method} ${url}`;
  runAsOwner({ log: exchangeOf(request.raw).log, facts: { route } }, done);
}

/**
 * Custom routes live in a scope of their own: their hooks, parsers and error handlers reach no route of ours.
 * The authenticator admits their callers too, so that they are not open by accident.
 */
export function customRouteScope(
  customRoutes: CustomRoutes,
  table: RouteTable,
  resolveCaller: ResolveCaller,
  limiter: RateLimiter | undefined,
) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest('caller', null);
    scope.addHook('onRoute', (route) => {
      for (const method of [route.method].flat()) {
        if (table.has(method, route.url)) {
          throw errors.invalidConfig(
            `The custom route ${method} ${route.url} clashes with a route of Runyard. Give it another path.`,
          );
        }
      }
    });
    scope.addHook('onRequest', async (request, reply) => {
      const exchange = exchangeOf(request.raw);
      exchange.route = request.routeOptions.url ?? exchange.route;
      reply.header('x-request-id', exchange.requestId);
      reply.header('x-content-type-options', 'nosniff');
      reply.header('referrer-policy', 'no-referrer');
      const cors = exchange.cors ?? [];
      for (let at = 0; at < cors.length; at += 2) reply.header(cors[at] ?? '', cors[at + 1]);
      // as the router fills them
      const params = request.params as Record<string, string>;
      request.caller = await admit(exchange, null, params, resolveCaller, limiter);
    });
    // once more after the body, whose arrival loses the owner
    scope.addHook('onRequest', inNameOfRoute);
    scope.addHook('preValidation', inNameOfRoute);
    await customRoutes(scope);
  };
}
