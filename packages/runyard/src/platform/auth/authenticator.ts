import { errors } from '../../core/errors/errors.js';
import type { AccessRequest } from '../http/route.js';
import { anonymousCaller, type Caller } from './caller.js';
import { type Identities, isRefusedToken } from './identity.js';
import { type PresentedToken, presentedToken } from './presented-token.js';
import { parseScope, Rights } from './rights.js';
import type { AuthSettings } from './tokens/settings.js';

export interface AuthenticatorOptions {
  readonly settings: AuthSettings;
  readonly identities: Identities;
}

/** A caller at a path that needs no token: sees no data that belongs to a user. */
const visitor: Caller = { ...anonymousCaller, scope: { kind: 'unowned' }, rights: Rights.none };

/** The resources of which each instance has a scope of its own, with the parameter that names it in a path. */
const instanceParameters: ReadonlyMap<string, string> = new Map([
  ['agents', 'agent_id'],
  ['teams', 'team_id'],
  ['workflows', 'workflow_id'],
]);

/** Decides who a caller is, and whether they may call a route, before anything else of the request is read. */
export class Authenticator {
  readonly #publicPaths: readonly string[];

  constructor(private readonly options: AuthenticatorOptions) {
    this.#publicPaths = options.settings.publicPaths;
  }

  /** Throws 401 or 403. It waits only for a check. */
  admit(request: AccessRequest): Caller | Promise<Caller> {
    const { settings, identities } = this.options;
    if (request.acting !== undefined) return this.#admitted(request, request.acting);
    const presented = presentedToken(request.headers, settings);
    if (identities.mode === 'none') {
      return presented === undefined ? anonymousCaller : this.#admitOpenly(request, presented);
    }
    if (presented !== undefined) return this.#admitHolder(request, presented);
    if (this.#isPublic(request.path)) return visitor;
    throw missingToken(identities.mode, settings);
  }

  /** A service without authorization knows service accounts all the same; what else is sent means nothing to it. */
  async #admitOpenly(request: AccessRequest, presented: PresentedToken): Promise<Caller> {
    try {
      return await this.#admitHolder(request, presented);
    } catch (error) {
      if (isRefusedToken(error)) return anonymousCaller;
      throw error;
    }
  }

  async #admitHolder(request: AccessRequest, { token }: PresentedToken): Promise<Caller> {
    const { caller } = await this.options.identities.of(token, request.client.clientAddress);
    return this.#admitted(request, caller);
  }

  #admitted(request: AccessRequest, caller: Caller): Caller {
    if (!this.#isPublic(request.path)) assertMay(caller, request);
    return caller;
  }

  /** By its name, or by one that ends with `/*` and stands for all below it. */
  #isPublic(path: string): boolean {
    return this.#publicPaths.some((named) =>
      named.endsWith('/*') ? path.startsWith(named.slice(0, -1)) : path === named,
    );
  }
}

/** Any one of the scopes of a route will do. */
export function assertMay(
  { rights }: Pick<Caller, 'rights'>,
  { scope, params }: Pick<AccessRequest, 'scope' | 'params'>,
): void {
  if (scope === null) return;
  const wanted = typeof scope === 'string' ? [scope] : scope;
  if (!wanted.some((required) => mayCall(rights, required, params))) throw errors.insufficientScope(wanted);
}

function mayCall(rights: Rights, required: string, params: Readonly<Record<string, string>>): boolean {
  const { resource = '', action = '' } = parseScope(required) ?? {};
  const parameter = instanceParameters.get(resource);
  if (parameter === undefined) return rights.may(required);
  const instance = params[parameter];
  if (instance !== undefined) return rights.may(required, instance);
  // a caller who may see one entry of a list gets the list, with those entries alone
  const visible = rights.instances(resource, action);
  return visible === 'all' || visible.size > 0;
}

function missingToken(mode: 'security_key' | 'jwt', { tokenSource, tokenCookie }: AuthSettings) {
  if (mode === 'security_key') return errors.tokenMissing('Authorization header required');
  if (tokenSource === 'cookie') return errors.tokenMissing(`JWT cookie '${tokenCookie}' missing`);
  if (tokenSource === 'both')
    return errors.tokenMissing(
      `JWT token missing from both Authorization header and '${tokenCookie}' cookie`,
    );
  return errors.tokenMissing('Authorization header missing');
}
