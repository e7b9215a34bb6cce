import type { Services } from '../../capabilities/capability.js';
import type { RunyardError } from '../../core/errors/errors.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { AccessRequest, FailedRequest, ResolveCaller, Route } from '../../platform/http/route.js';
import type { InterfaceSite } from '../interface.js';

/** An authorization server of its own beside the tokens of the service. It is for the endpoint alone. */
export interface McpAuthorization {
  /** Its own endpoints: metadata, registration, tokens, … */
  readonly routes: readonly Route<Services>[];
  open(site: InterfaceSite): OpenAuthorization | Promise<OpenAuthorization>;
  /** `WWW-Authenticate` of a request without a valid token. */
  challenge(error: RunyardError, request: FailedRequest): string;
}

export interface OpenAuthorization {
  /** What its routes call. */
  readonly services?: Partial<Services>;
  /** Decides who calls the endpoint. `usual` knows the tokens of the service. */
  admit(request: AccessRequest, usual: ResolveCaller): Caller | Promise<Caller>;
  /** `oauth` in `/info`. */
  readonly info: Readonly<Record<string, unknown>>;
}
