import type { z } from 'zod';
import type { Services } from '../capabilities/capability.js';
import type { Caller } from '../platform/auth/caller.js';
import type { Identities, NamedCaller } from '../platform/auth/identity.js';
import type { ResolveCaller, Route } from '../platform/http/route.js';
import { type RouteInput, replyBody, routeRequest } from '../platform/http/route-call.js';
import type { AdmittedCall, Calls } from './calls.js';

/** What a service that is open has for calls within its process. */
export interface CallSite {
  readonly services: Services;
  readonly identities: Identities;
  readonly resolveCaller: ResolveCaller;
  /** By the ids of their operations. */
  readonly routes: ReadonlyMap<string, Route<Services>>;
}

/** The calls of one caller. No caller: the operator, who may do everything. */
export class ServiceCalls implements Calls {
  constructor(
    private readonly open: () => Promise<CallSite>,
    private readonly named?: NamedCaller,
  ) {}

  async body<Shows extends z.ZodType>(operationId: string, input: RouteInput): Promise<z.output<Shows>> {
    const { route, services, request } = await this.#admit(operationId, input);
    // the tests of the API hold each route to the schema that describes it
    return (await replyBody(await route.handler(services, request))) as z.output<Shows>;
  }

  admit(operationId: string, input: RouteInput): Promise<AdmittedCall> {
    return this.#admit(operationId, input);
  }

  async site(): Promise<Pick<AdmittedCall, 'caller' | 'services'>> {
    const { services, identities } = await this.open();
    return { services, caller: this.#callerIn(identities) };
  }

  async #admit(operationId: string, input: RouteInput) {
    const { services, identities, resolveCaller, routes } = await this.open();
    const route = routes.get(operationId);
    if (route === undefined) throw new Error(`There is no operation '${operationId}'.`);
    const request = await routeRequest(route, input, this.#callerIn(identities), resolveCaller);
    return { route, services, request, caller: request.caller };
  }

  #callerIn(identities: Identities): Caller {
    return this.named === undefined ? identities.operator(null) : identities.named(this.named);
  }
}
