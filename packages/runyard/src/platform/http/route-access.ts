import { parseScope } from '../auth/rights.js';
import type { RequiredScope } from './route.js';

interface Access {
  readonly method: string;
  readonly path: string;
  readonly scope?: RequiredScope | undefined;
  readonly public?: boolean | undefined;
}

/**
 * Rejects a route that does not say who may call it. The types require it too, but a route may come from where
 * nothing checks them, and one that is open by omission is noticed too late.
 */
export function refuseUndecidedAccess(routes: readonly Access[]): void {
  for (const { method, path, ...access } of routes) {
    const isDecided = access.public === true ? access.scope === undefined : isRequirement(access.scope);
    if (!isDecided) {
      throw new Error(
        `The route ${method} ${path} does not say who may call it. Give it a scope such as agents:read, several of ` +
          'which one suffices, null for any valid identity, or public: true.',
      );
    }
  }
}

function isRequirement(scope: RequiredScope | undefined): boolean {
  if (scope === null) return true;
  const scopes = typeof scope === 'string' ? [scope] : scope;
  return Array.isArray(scopes) && scopes.length > 0 && scopes.every(isWholeResource);
}

/** The path alone says which instance is meant. */
function isWholeResource(text: string): boolean {
  return parseScope(text)?.instance === null;
}
