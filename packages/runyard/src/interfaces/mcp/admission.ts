import { errors, type RunyardError } from '../../core/errors/errors.js';
import type { Caller } from '../../platform/auth/caller.js';
import { isLocalOrAllowed } from '../../platform/http/defences/hosts.js';
import { Reply } from '../../platform/http/response/results.js';
import type { AccessRequest, EncodeError, FailedRequest, ResolveCaller } from '../../platform/http/route.js';
import type { Settings } from '../../platform/settings/config.js';
import type { InterfaceSite } from '../interface.js';
import type { McpAuthorization, OpenAuthorization } from './authorization.js';
import { rpcCodes, rpcError } from './json-rpc.js';
import type { McpConfig } from './options.js';

export interface AdmissionOptions {
  readonly config: McpConfig;
  readonly settings: Settings;
  readonly identities: InterfaceSite['identities'];
  readonly authorization: OpenAuthorization | undefined;
}

/** Decides who may use the endpoint. Rights are checked for each operation, as those of its REST route. */
export class Admission {
  readonly #hosts: readonly string[];
  readonly #origins: ReadonlySet<string>;
  readonly #checksHost: boolean;

  constructor(private readonly options: AdmissionOptions) {
    const { config, settings, identities, authorization } = options;
    this.#hosts = [...(config.allowedHosts ?? []), ...settings.allowedHosts];
    this.#origins = new Set([...(config.allowedOrigins ?? []), ...(settings.corsOrigins ?? [])]);
    const isOpen = identities.mode === 'none' && authorization === undefined;
    this.#checksHost = isOpen || config.allowedHosts !== undefined;
  }

  async admit(request: AccessRequest, usual: ResolveCaller): Promise<Caller> {
    this.#checkAddress(request);
    const { authorization, config } = this.options;
    const caller = await (authorization === undefined ? usual(request) : authorization.admit(request, usual));
    if (config.authorize !== undefined && !(await config.authorize(caller.userId, caller)))
      throw errors.mcpCallerRefused();
    return caller;
  }

  /**
   * A page can make its own name lead here (DNS rebinding). A service without authentication answers local clients and
   * those of the hosts that it names.
   */
  #checkAddress({ headers }: AccessRequest): void {
    if (!this.#checksHost) return;
    const { host, origin } = headers;
    if (host !== undefined && !isLocalOrAllowed(host, this.#hosts)) throw errors.mcpHostRefused();
    if (origin === undefined || this.#origins.has(origin)) return;
    const page = URL.canParse(origin) ? new URL(origin).host : '';
    if (!isLocalOrAllowed(page, this.#hosts)) throw errors.mcpOriginRefused();
  }
}

/** What the service refuses wherever a request goes, in the words of this endpoint. */
const refusals = new Map([
  ['host_not_allowed', errors.mcpHostRefused()],
  ['origin_not_allowed', errors.mcpOriginRefused()],
]);

/** Errors that occur before a message is read: in the usual form, as the contract has them, or as JSON-RPC. */
export function mcpErrors(authorization: McpAuthorization | undefined): EncodeError {
  return (given, request) => {
    const error = refusals.get(given.code) ?? given;
    const { code, status, detail } = error;
    if (isBrokenJson(error)) return rpcError(400, `Parse error: ${error.message}`, { code: rpcCodes.parse });
    const headers = { ...error.options.headers, ...challenge(error, request, authorization) };
    if (code === 'invalid_host' || code === 'invalid_origin' || code === 'unauthorized')
      return new Reply(status, { error: code, detail }, headers);
    const body = { detail, error_code: code, request_id: request.requestId, ...error.options.fields };
    return new Reply(status, body, headers);
  };
}

function isBrokenJson({ options: { items = [] } }: RunyardError): boolean {
  return items[0]?.type === 'json_invalid';
}

/** Says which kind of token is missing, so that clients that can get one do so. */
function challenge(
  error: RunyardError,
  request: FailedRequest,
  authorization: McpAuthorization | undefined,
): Record<string, string> {
  if (error.status !== 401) return {};
  if (authorization !== undefined) return { 'www-authenticate': authorization.challenge(error, request) };
  const isMissing = error.code === 'token_missing';
  return {
    'www-authenticate': isMissing ? 'Bearer realm="mcp"' : 'Bearer realm="mcp", error="invalid_token"',
  };
}
