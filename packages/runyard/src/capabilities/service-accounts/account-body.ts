import { parseScope } from '../../platform/auth/rights.js';
import { principalOf } from './account-tokens.js';
import type { ServiceAccount } from './store.js';

/** A service account in the form of the wire: every field, nulls too. */
export function accountBodyOf(account: ServiceAccount) {
  return {
    id: account.id,
    name: account.name,
    principal: principalOf(account.name),
    user_id: account.userId,
    token_prefix: account.tokenPrefix,
    scopes: account.scopes.map(scopeBodyOf),
    created_at: secondsOf(account.createdAt),
    expires_at: account.expiresAt && secondsOf(account.expiresAt),
    last_used_at: account.lastUsedAt && secondsOf(account.lastUsedAt),
    revoked_at: account.revokedAt && secondsOf(account.revokedAt),
    created_by: account.createdBy,
  };
}

function scopeBodyOf(raw: string) {
  // without parts there is only an admin scope that was configured as one word
  const { resource, instance, action } = parseScope(raw) ?? {
    resource: raw,
    instance: null,
    action: 'admin',
  };
  return { id: null, raw, namespace: resource, sub_namespace: instance, permission: action, value: 'allow' };
}

function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
