/** What a token says about itself. It is only shown: the service decides. */
export interface TokenClaims {
  readonly user: string | undefined;
  /** Undefined if the token does not say: then everything is shown, and the service refuses what is not allowed. */
  readonly scopes: readonly string[] | undefined;
  readonly expiresAt: number | undefined;
}

/** What the payload of a JWT says; undefined for any other token. */
export function readToken(token: string): TokenClaims | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(decoded(payload));
    if (typeof claims !== 'object' || claims === null) return undefined;
    const { sub, exp, scopes, scope }: Record<string, unknown> = { ...claims };
    return {
      user: typeof sub === 'string' ? sub : undefined,
      scopes: scopesIn([scopes, scope]),
      expiresAt: typeof exp === 'number' ? exp : undefined,
    };
  } catch {
    return undefined;
  }
}

/** A list or a text in `scopes`, and the space-separated `scope` of OAuth. */
function scopesIn(claims: readonly unknown[]): readonly string[] | undefined {
  const given = claims.filter((value) => typeof value === 'string' || Array.isArray(value));
  if (given.length === 0) return undefined;
  return given.flatMap((value: string | readonly unknown[]) =>
    typeof value === 'string'
      ? value.split(/[\s,]+/).filter(Boolean)
      : value.filter((one) => typeof one === 'string'),
  );
}

function decoded(part: string): string {
  const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  );
  return new TextDecoder().decode(bytes);
}

const adminScope = 'agent_os:admin';
const resources = new Set(
  'agents teams workflows sessions memories learnings knowledge metrics traces approvals schedules evals components registry config system service_accounts'.split(
    ' ',
  ),
);
const actions = new Set(['read', 'write', 'delete', 'run']);

/** Scopes of OpenID Connect, which identity providers add to tokens. They say nothing about the service. */
const ofIdentity = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);

/**
 * Whether scopes allow something of a kind, such as `agents:run`, for at least one instance. A service may call its
 * admin scope otherwise, so a token with a scope that the console does not know is not held back, nor is one that has
 * no scope of the service at all: the service has the last word.
 */
export function allows(scopes: readonly string[] | undefined, required: string): boolean {
  const given = (scopes ?? []).filter((scope) => !ofIdentity.has(scope));
  const held = given.map(partsOf);
  if (held.length === 0 || held.includes(undefined) || given.includes(adminScope)) return true;
  const wanted = partsOf(required);
  return held.some((scope) => scope?.resource === wanted?.resource && scope?.action === wanted?.action);
}

function partsOf(scope: string): { resource: string; action: string } | undefined {
  const parts = scope.split(':');
  const [resource = '', action = ''] = [parts[0], parts.at(-1)];
  if (parts.length < 2 || parts.length > 3 || !resources.has(resource) || !actions.has(action))
    return undefined;
  return { resource: resource === 'system' ? 'config' : resource, action };
}
