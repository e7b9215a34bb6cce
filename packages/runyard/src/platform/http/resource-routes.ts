import type { z } from 'zod';
import { type ListPage, type PageRequest, pageOf } from './request/pagination.js';
import { reply } from './response/results.js';
import { defineRoute, type HttpMethod, type Route, type RouteFacts, type RouteRequest } from './route.js';

type Asked<Params, Query, Body> = RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>;

interface Described<Params, Query, Body> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: z.ZodType;
  readonly body?: Body;
  /** Not part of the wire contract. */
  readonly addition?: boolean;
}

interface Shown<Services, Params, Query, Body> extends Described<Params, Query, Body> {
  /** The body of the answer. */
  readonly shows: z.ZodType;
  readonly handler: (services: Services, request: Asked<Params, Query, Body>) => unknown;
}

/**
 * The plain routes of one kind of resource: its scopes are `<resource>:read`, `:write` and `:delete`, a list answers
 * with a page, and a removal with 204.
 */
export class ResourceRoutes<Services> {
  constructor(
    private readonly tag: string,
    private readonly resource: string,
  ) {}

  list<Entry, Query extends z.ZodType<PageRequest>>(
    described: Described<z.ZodUndefined, Query, z.ZodUndefined> & {
      readonly shows: z.ZodType;
      readonly find: (
        services: Services,
        request: Asked<z.ZodUndefined, Query, z.ZodUndefined>,
      ) => Promise<ListPage<Entry>>;
      readonly entry: (found: Entry) => unknown;
    },
  ): Route<Services> {
    const { shows, find, entry, ...facts } = described;
    return this.#route('GET', 'read', facts, { 200: shows }, async (services, request) => {
      const { items, total } = await find(services, request);
      return pageOf(items.map(entry), request.query, total);
    });
  }

  readonly get = this.#shown('GET', 'read', 200);
  readonly change = this.#shown('PATCH', 'write', 200);
  /** Its handler answers with `reply(201, …)`. */
  readonly create = this.#shown('POST', 'write', 201);
  /** A POST that is answered with 200. */
  readonly act = this.#shown('POST', 'write', 200);

  remove<
    Params extends z.ZodType = z.ZodUndefined,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUndefined,
  >(
    described: Described<Params, Query, Body> & {
      /** What 204 means. */
      readonly gone: string;
      readonly handler: (services: Services, request: Asked<Params, Query, Body>) => Promise<void>;
    },
  ): Route<Services> {
    const { gone, handler, ...facts } = described;
    return this.#route(
      'DELETE',
      'delete',
      facts,
      { 204: { description: gone } },
      async (services, request) => {
        await handler(services, request);
        return reply(204);
      },
    );
  }

  #shown(method: HttpMethod, action: 'read' | 'write', status: 200 | 201) {
    return <
      Params extends z.ZodType = z.ZodUndefined,
      Query extends z.ZodType = z.ZodUndefined,
      Body extends z.ZodType = z.ZodUndefined,
    >({
      shows,
      handler,
      ...facts
    }: Shown<Services, Params, Query, Body>): Route<Services> =>
      this.#route(method, action, facts, { [status]: shows }, handler);
  }

  #route<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
    method: HttpMethod,
    action: 'read' | 'write' | 'delete',
    facts: Described<Params, Query, Body>,
    responses: RouteFacts['responses'],
    handler: (services: Services, request: Asked<Params, Query, Body>) => unknown,
  ): Route<Services> {
    const { tag, resource } = this;
    return defineRoute({ ...facts, method, scope: `${resource}:${action}`, tag, responses, handler });
  }
}
