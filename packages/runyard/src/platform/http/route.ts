import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { RunyardError } from '../../core/errors/errors.js';
import type { Caller } from '../auth/caller.js';
import type { UploadSink } from './request/streamed-file.js';
import type { Reply } from './response/results.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a handler is given: validated input, and who asks. */
export interface RouteRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** Where the service is mounted in another server; empty when it stands alone. */
  readonly basePath: string;
  /** By which the client reaches the service, its base path included: `https://agents.example.com`. */
  readonly calledAddress: string;
  /** Where the request comes from. */
  readonly clientAddress: string;
  /** Counts one more request for the rate limit: for a body that holds several. Throws 429. */
  spend(): void;
}

/** What the caller's identity and rights are decided by, before anything else of the request is read. */
export interface AccessRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly scope: RequiredScope;
  readonly params: Readonly<Record<string, string>>;
  /** Where the request comes from. Read the address only when it is needed: Node then keeps it as long as the socket. */
  readonly client: { readonly clientAddress: string };
  readonly basePath: string;
  /** In whose name the service itself asks: that is decided, what they may do is not. */
  readonly acting?: Caller | undefined;
}

/** Throws an error of the catalogue for a caller who may not. */
export type ResolveCaller = (request: AccessRequest) => Caller | Promise<Caller>;

/** An error in the form of another protocol. */
export type EncodeError = (error: RunyardError, request: FailedRequest) => Reply;

export interface FailedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly requestId: string;
  readonly basePath: string;
}

/** A request whose body has not been read yet. */
export type AddressedRequest<Params, Query> = Omit<RouteRequest<Params, Query, unknown>, 'body'>;

type MadeSink = UploadSink | Promise<UploadSink>;

/** An answer of a route for the API description. */
export interface ResponseDescription {
  readonly description?: string;
  readonly schema?: z.ZodType;
  /** The same status may also be a stream of events; what it carries, in words. */
  readonly events?: string;
  /** Headers of the answer that a client may need, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The content type when it is not JSON. */
  readonly contentType?: string;
}

/** The scope that a route asks for, or several of which any one will do; null when any valid identity will do. */
export type RequiredScope = string | readonly string[] | null;

/**
 * Who may call a route: the holders of a scope, anyone with a valid identity (`null`), or anyone at all. There is
 * no default, so that no route is open by omission.
 */
export type RouteAccess =
  | { readonly scope: RequiredScope; readonly public?: undefined }
  | { readonly public: true; readonly scope?: undefined };

/** What a route says about itself, apart from what it does. */
export type RouteFacts = RouteAccess & {
  readonly method: HttpMethod;
  /** With `:name` for parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * The encoding of the body; `json` by default. `form` means both form content types, and JSON with the same fields.
   * `bytes`: the body as it came (`Uint8Array`), for a protocol that signs it.
   */
  readonly accepts?: 'json' | 'form' | 'bytes';
  readonly responses: Readonly<Record<number, z.ZodType | ResponseDescription>>;
  /** Its JSON may hold files: the bound of its body is `maxUploadBytes`. */
  readonly carriesFiles?: boolean;
  /** It needs an answer of another service, whose failure is answered with 502. */
  readonly asksOthers?: boolean;
  /** Not part of the wire contract. */
  readonly addition?: boolean;
  /** Left out of the API description. */
  readonly undocumented?: boolean;
};

/** An endpoint as one value. Validation, API description, scope table, client and tests are derived from it. */
export type Route<Services> = RouteFacts & {
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly headers?: z.ZodType;
  readonly body?: z.ZodType;
  readonly uploads?: (services: Services, request: AddressedRequest<unknown, unknown>) => MadeSink;
  readonly admit?: (
    services: Services,
    request: AccessRequest,
    usual: ResolveCaller,
  ) => Caller | Promise<Caller>;
  readonly encodeError?: EncodeError;
  readonly handler: (services: Services, request: RouteRequest<unknown, unknown, unknown>) => unknown;
};

export type RouteDefinition<
  Services,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> = RouteFacts & {
  readonly params?: Params;
  readonly query?: Query;
  /** Request headers that mean something to this route, by their names in lower case. They are checked. */
  readonly headers?: z.ZodType;
  readonly body?: Body;
  /**
   * Set for a form whose files (`streamedFiles` in the body) are stored while they arrive: finds the place for them
   * before anything of the body is read. The service bounds such a form with `maxStreamedBytes`.
   */
  readonly uploads?: (
    services: Services,
    request: AddressedRequest<z.output<Params>, z.output<Query>>,
  ) => MadeSink;
  /** Set for a protocol with tokens of its own: decides who calls. `usual` decides as for every other route. */
  readonly admit?: (
    services: Services,
    request: AccessRequest,
    usual: ResolveCaller,
  ) => Caller | Promise<Caller>;
  /**
   * Set for a protocol with errors of its own. Requests that are refused before they are routed (a wrong host) have this
   * form only at a path without parameters.
   */
  readonly encodeError?: EncodeError;
  readonly handler: (
    services: Services,
    request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => unknown;
};

/**
 * Defines an endpoint. The handler's first parameter names the services it needs
 * (`({ runs }: { runs: RunsService }, { params }) => …`); the second is typed from the schemas.
 */
export function defineRoute<
  Services = unknown,
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<Services, Params, Query, Body>): Route<Services> {
  // The dispatcher hands the handler only what passed these very schemas, so the erased type is sound.
  return definition as unknown as Route<Services>;
}

/** `/agents/:agent_id/runs` as `/agents/{agent_id}/runs`; a doubled colon stands for a plain one. */
export function pathTemplate(path: string): string {
  return path.replace(/::|:(\w+)/g, (_match, name: string | undefined) => (name ? `{${name}}` : ':'));
}
