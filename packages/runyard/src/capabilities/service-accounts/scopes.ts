import { parseScope, Rights } from '../../platform/auth/rights.js';

/** What an account may do by default: start runs and see their results. */
export const defaultScopes: readonly string[] = [
  'agents:run',
  'teams:run',
  'workflows:run',
  'sessions:read',
  'config:read',
];

/** Actions that change or remove what is there, or keep others waiting. */
const privilegedActions = new Set(['write', 'delete', 'prioritize']);

/** Whether the text is a scope. An admin scope of one's own may look like anything. */
export function isScope(scope: string, adminScope: string): boolean {
  return scope === adminScope || parseScope(scope) !== undefined;
}

/** Whether granting a scope requires explicit confirmation. */
export function isPrivileged(scope: string, adminScope: string): boolean {
  if (scope === adminScope) return true;
  const parsed = parseScope(scope);
  return (
    parsed !== undefined && (parsed.resource === 'service_accounts' || privilegedActions.has(parsed.action))
  );
}

/**
 * What a caller may hand on. Scopes bind here even where they are not checked otherwise: an account is always held
 * to its own, and may outlive the day on which the service begins to check them.
 */
export function grantable(rights: Rights, adminScope: string): Rights {
  if (rights.enforced || rights.held.length === 0) return rights;
  return new Rights(rights.held, { adminScope, enforced: true });
}

/** Whether an account with this scope sees the data of all users. */
export function showsEverybody(scope: string, adminScope: string): boolean {
  if (scope === adminScope) return true;
  const { resource, action } = parseScope(scope) ?? {};
  // an account that decides on calls finds the calls of all users
  return resource === 'approvals' && action === 'write';
}

/** Whether an account with this scope acts on what belongs to others: their accounts, their calls. */
function reachesOthers(scope: string): boolean {
  const { resource, action } = parseScope(scope) ?? {};
  return resource === 'service_accounts' || (resource === 'approvals' && action !== 'read');
}

/** Whether these rights include everything that the scope grants. */
export function covers(rights: Rights, scope: string, adminScope: string): boolean {
  if (rights.isAdmin || rights === Rights.unlimited) return true;
  // an admin scope gives everything: holding a scope that resembles it, as `agent_os:*:admin`, is not being one
  if (scope === adminScope) return false;
  // where scopes are not checked, a token without any proves no right over the data of others
  if (!rights.enforced) return !reachesOthers(scope);
  const parsed = parseScope(scope);
  if (parsed === undefined) return false;
  const instances = rights.instances(parsed.resource, parsed.action);
  return instances === 'all' || (parsed.instance !== null && instances.has(parsed.instance));
}
