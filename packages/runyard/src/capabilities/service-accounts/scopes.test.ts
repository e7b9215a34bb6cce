import { describe, expect, test } from 'vitest';
import { Rights } from '../../platform/auth/rights.js';
import { covers, grantable, isPrivileged, isScope } from './scopes.js';

const admin = 'agent_os:admin';

test.each(['agents:run', 'agents:*:run', 'agents:writer:run', 'unknown:words', admin])(
  '%j is a scope',
  (scope) => expect(isScope(scope, admin)).toBe(true),
);

test.each(['', 'nonsense', 'agents:', ':run', 'a:b:c:d', '*'])('%j is not a scope', (scope) =>
  expect(isScope(scope, admin)).toBe(false),
);

test('an admin scope of one word is a scope where it is configured', () => {
  expect(isScope('root', 'root')).toBe(true);
  expect(isPrivileged('root', 'root')).toBe(true);
});

test.each(['sessions:write', 'sessions:delete', 'components:x:write', 'service_accounts:read', admin])(
  '%j is privileged',
  (scope) => expect(isPrivileged(scope, admin)).toBe(true),
);

test.each(['agents:run', 'sessions:read', 'agents:write:run'])('%j is not privileged', (scope) =>
  expect(isPrivileged(scope, admin)).toBe(false),
);

describe('what can be handed on', () => {
  const holding = (...held: string[]) => new Rights(held, { adminScope: admin, enforced: true });

  test.each([
    ['agents:run', 'agents:run'],
    ['agents:run', 'agents:writer:run'],
    ['agents:run', 'agents:*:run'],
    ['agents:*:run', 'agents:run'],
    ['agents:writer:run', 'agents:writer:run'],
    ['system:read', 'config:read'],
    [admin, 'anything:write'],
    [admin, admin],
  ])('%s covers %s', (held, scope) => expect(covers(holding(held), scope, admin)).toBe(true));

  test.each([
    ['agents:run', 'agents:read'],
    ['agents:run', 'teams:run'],
    ['agents:writer:run', 'agents:run'],
    ['agents:writer:run', 'agents:*:run'],
    ['agents:writer:run', 'agents:reader:run'],
    // each is answered with `may` by rights that hold it, without being an admin
    ['agent_os:*:admin', admin],
    ['agents:run', admin],
  ])('%s does not cover %s', (held, scope) => expect(covers(holding(held), scope, admin)).toBe(false));

  test.each([
    admin,
    'service_accounts:write',
    'service_accounts:read',
    'approvals:write',
    'approvals:x:delete',
  ])('not %s, by a token without scopes where scopes are not checked', (scope) => {
    const rights = grantable(new Rights([], { adminScope: admin, enforced: false }), admin);
    expect(covers(rights, scope, admin)).toBe(false);
    expect(covers(rights, 'sessions:write', admin)).toBe(true);
  });

  test('everything, by the holder of the security key', () => {
    expect(covers(grantable(Rights.unlimited, admin), admin, admin)).toBe(true);
  });

  test('no more than their own scopes, by callers who have some, although scopes are not checked elsewhere', () => {
    const rights = new Rights(['agents:run'], { adminScope: admin, enforced: false });
    expect(rights.may('teams:run')).toBe(true);
    expect(covers(grantable(rights, admin), 'agents:x:run', admin)).toBe(true);
    expect(covers(grantable(rights, admin), 'teams:run', admin)).toBe(false);
  });
});
