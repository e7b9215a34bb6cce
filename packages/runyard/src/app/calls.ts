import type { z } from 'zod';
import type { Services } from '../capabilities/capability.js';
import type { Caller } from '../platform/auth/caller.js';
import type { RouteRequest } from '../platform/http/route.js';
import type { RouteInput } from '../platform/http/route-call.js';

/** An operation of the API that a caller may perform, with checked input. */
export interface AdmittedCall {
  readonly caller: Caller;
  readonly services: Services;
  readonly request: RouteRequest<unknown, unknown, unknown>;
}

/** The operations of a service, for one caller. Each of them opens the service first. */
export interface Calls {
  /** Performs the operation with this id, and resolves with the body that a client would receive: `Shows` describes it. */
  body<Shows extends z.ZodType = z.ZodVoid>(operationId: string, input: RouteInput): Promise<z.output<Shows>>;
  /** Checks the rights and the input alone: what is done then is not what a client could receive. */
  admit(operationId: string, input: RouteInput): Promise<AdmittedCall>;
  /** Who calls, and the services. */
  site(): Promise<Pick<AdmittedCall, 'caller' | 'services'>>;
}
