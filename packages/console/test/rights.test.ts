import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allows, readToken } from '../src/connection/rights.js';

const tokenOf = (payload: unknown) =>
  `e30.${Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)).toString('base64url')}.x`;

describe('what a token says', () => {
  test('its user, its end, and its scopes in each form that the service reads', () => {
    expect(
      readToken(tokenOf({ sub: 'Zoë', exp: 5, scopes: ['agents:run'], scope: 'a:read b:read' })),
    ).toEqual({
      user: 'Zoë',
      expiresAt: 5,
      scopes: ['agents:run', 'a:read', 'b:read'],
    });
    expect(readToken(tokenOf({ scopes: 'agents:run, teams:run' }))?.scopes).toEqual([
      'agents:run',
      'teams:run',
    ]);
    expect(readToken(tokenOf({ sub: 7, exp: 'x', scopes: [1, 'a:read', null] }))).toEqual({
      user: undefined,
      expiresAt: undefined,
      scopes: ['a:read'],
    });
    expect(readToken(tokenOf({}))?.scopes).toBeUndefined();
  });

  test.each(['', 'rsa_abc', 'a.b.c', 'a..c', 'a.!!.c', tokenOf('null'), tokenOf('5'), tokenOf('{')])(
    'nothing, if it is no JWT: %s',
    (token) => {
      expect(readToken(token)).toBeUndefined();
    },
  );
});

describe('what scopes allow', () => {
  test('only what they name, for all or for one', () => {
    const scopes = ['agents:run', 'teams:crew:read', 'workflows:*:run', 'system:read'];
    for (const may of ['agents:run', 'teams:read', 'workflows:run', 'config:read'])
      expect([may, allows(scopes, may)]).toEqual([may, true]);
    for (const not of ['agents:read', 'teams:run', 'sessions:read', 'config:write'])
      expect([not, allows(scopes, not)]).toEqual([not, false]);
  });

  test.each([
    ['no scopes are known', undefined],
    ['there are none', []],
    ['one is the admin scope', ['agents:run', 'agent_os:admin']],
    ['one may be the admin scope under another name', ['agents:run', 'superuser']],
    ['one may be an admin scope with parts', ['sessions:read', 'acme:admin']],
    ['one has the form of a scope, but of no resource', ['sessions:read', 'everything:write']],
    ['all are of the identity provider', ['openid', 'profile']],
  ])('everything, if %s', (_, scopes) => {
    expect(allows(scopes, 'traces:read')).toBe(true);
  });

  test('those of the identity provider change nothing', () => {
    expect(allows(['openid', 'email', 'agents:run'], 'traces:read')).toBe(false);
  });

  test('every scope of the service is known', () => {
    const page = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8');
    const named = new Set(
      [...page.matchAll(/`([a-z_]+:(?:read|write|delete|run))`/g)].map(([, scope]) => scope),
    );
    expect(named.size).toBeGreaterThan(30);
    // an unknown one would allow everything
    const unknown = [...named].filter(
      (scope) => scope !== 'agents:run' && allows([scope ?? ''], 'agents:run'),
    );
    expect(unknown).toEqual([]);
  });
});
