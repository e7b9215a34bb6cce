import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { RouteDispatcher } from './dispatch.js';
import { type Exchange, exchangeOf } from './exchange.js';
import { sendError } from './response/respond.js';

export interface RouterOptions<Services> {
  readonly server: Server;
  readonly dispatchers: readonly RouteDispatcher<Services>[];
  /** Answers a request that no route takes. */
  readonly answerUnrouted: (exchange: Exchange) => void;
}

/** Finds the route of each request, from the first connection to the last. */
export interface Router {
  route(request: IncomingMessage, response: ServerResponse): void;
  listen(address: { readonly host: string; readonly port: number }): Promise<void>;
  /** Takes no new connections; settles when the last one has ended. */
  close(): Promise<void>;
}

/** Long ids are legal; what is longer than this is no id. */
export const maxParameterLength = 1_024;

/** The routes of the service, found the way fastify finds them. */
export function ownRouter<Services>({
  server,
  dispatchers,
  answerUnrouted,
}: RouterOptions<Services>): Router {
  const all = lazyTable(dispatchers, (exchange) => {
    if (isDecodable(exchange.path)) answerUnrouted(exchange);
    else sendError(exchange, errors.badUrl());
  });
  // what is not found among some is looked for among all, where it is known what is wrong with it
  const lookAmongAll = ({ request, response }: Exchange): void => all().lookup(request, response);
  const some = new Map(
    Array.from(bySegment(dispatchers), ([segment, those]) => [segment, lazyTable(those, lookAmongAll)]),
  );
  return {
    route(request, response) {
      const table = some.get(firstSegment(request.url ?? '/')) ?? all;
      table().lookup(request, response);
    },
    async listen(address) {
      server.listen(address);
      await once(server, 'listening');
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

type LazyTable = () => findMyWay.Instance<findMyWay.HTTPVersion.V1>;

/** A table that is made at its first use: those of all routes are a tenth of a start, which needs one of them. */
function lazyTable<Services>(
  dispatchers: readonly RouteDispatcher<Services>[],
  answerUnrouted: RouterOptions<Services>['answerUnrouted'],
): LazyTable {
  let made: ReturnType<LazyTable> | undefined;
  return () => {
    made ??= tableOf(dispatchers, answerUnrouted);
    return made;
  };
}

function tableOf<Services>(
  dispatchers: readonly RouteDispatcher<Services>[],
  answerUnrouted: RouterOptions<Services>['answerUnrouted'],
): ReturnType<LazyTable> {
  const table = findMyWay({
    maxParamLength: maxParameterLength,
    defaultRoute: (request) => answerUnrouted(exchangeOf(request)),
    onBadUrl: (_path, request) => sendError(exchangeOf(request), errors.badUrl()),
    onMaxParamLength: (path, request) => sendError(exchangeOf(request), parameterTooLong(path)),
  });
  for (const dispatcher of dispatchers) {
    const { method, path } = dispatcher.route;
    table.on(method, path, (request, _response, params, _store, query) => {
      // a route that matches has a value for each of its parameters
      void dispatcher.dispatch(exchangeOf(request), params as Record<string, string>, query);
    });
  }
  return table;
}

function bySegment<Services>(
  dispatchers: readonly RouteDispatcher<Services>[],
): Map<string, RouteDispatcher<Services>[]> {
  const groups = new Map<string, RouteDispatcher<Services>[]>();
  for (const dispatcher of dispatchers) {
    const segment = firstSegment(dispatcher.route.path);
    const group = groups.get(segment) ?? [];
    group.push(dispatcher);
    groups.set(segment, group);
  }
  return groups;
}

/** The part of a path that all matches have in common: no route begins with a parameter. */
function firstSegment(path: string): string {
  return /^\/([^/?#]*)/.exec(path)?.[1] ?? '';
}

/** Tables decode only what has a method of theirs. */
function isDecodable(path: string): boolean {
  try {
    findMyWay.sanitizeUrlPath(path);
    return true;
  } catch {
    return false;
  }
}

function parameterTooLong(path: string): RunyardError {
  return new RunyardError('bad_request', 414, `'${path}' is exceeding the max param length`);
}
