import type { CallApplication } from '../core/runs/execution/code-owner.js';
import type { Caller } from './auth/caller.js';
import type { Identities } from './auth/identity.js';
import type { KeptCaller, RightsOfHolder } from './auth/kept-caller.js';
import { actAs } from './http/exchange.js';
import { fetchHandler } from './http/fetch-handler.js';
import type { HttpServer, NodeHandler } from './http/handler.js';

const directly: CallApplication = (_what, work) => work();

/** The host of a request that leaves no process. */
const ownOrigin = 'http://localhost';

/** Calls of the service to its own routes, in the name of one who is not there. */
export class OwnCalls {
  #identities: Identities | undefined;
  #handle: NodeHandler | undefined;

  constructor(private readonly rights?: RightsOfHolder) {}

  /** Nothing can be called before the routes are there. */
  open(identities: Identities, http: HttpServer): void {
    this.#identities = identities;
    this.#handle = http.handler();
  }

  /** Who was kept, with the rights of now. Throws 403 `rights_lost`. `callApplication` calls what the application gave. */
  async caller(kept: KeptCaller, callApplication: CallApplication = directly): Promise<Caller> {
    if (this.#identities === undefined) throw new Error('The service is not open.');
    const { rights } = this;
    const asked: RightsOfHolder | undefined =
      rights && ((holder) => callApplication('scheduleRights', () => rights(holder)));
    return this.#identities.restored(kept, asked);
  }

  /** Who operates the service, with all rights, or acts for this user. */
  operator(userId: string | null): Caller {
    if (this.#identities === undefined) throw new Error('The service is not open.');
    return this.#identities.operator(userId);
  }

  /**
   * Calls a route in the name of this caller: rights, limits, validation and handlers are those of a request from
   * outside. There is no socket and no token. `path` begins with a slash and may have a query.
   */
  call(caller: Caller, path: string, init: RequestInit): Promise<Response> {
    const handle = this.#handle;
    if (handle === undefined) throw new Error('The service is not open.');
    const served = fetchHandler((incoming, response) => {
      actAs(incoming, caller);
      handle(incoming, response);
    });
    return served(new Request(`${ownOrigin}${path}`, init));
  }
}
