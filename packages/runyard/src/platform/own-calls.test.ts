import { expect, test } from 'vitest';
import { z } from 'zod';
import { startServer } from '../../test/support/clients/http-server.js';
import { Authenticator } from './auth/authenticator.js';
import { anonymousCaller, type Caller } from './auth/caller.js';
import { type AccountIdentity, Identities } from './auth/identity.js';
import { type KeptCaller, keptCaller } from './auth/kept-caller.js';
import { Rights } from './auth/rights.js';
import type { AuthSettings } from './auth/tokens/settings.js';
import type { TokenVerifier } from './auth/tokens/verifier.js';
import { defineRoute } from './http/route.js';
import { OwnCalls } from './own-calls.js';

const jwt = { authorization: true, adminScope: 'admin', userIsolation: true, publicPaths: [] as string[] };

/** Identities of a service with these settings and one service account. No token is ever verified. */
function identities(given: object, account?: AccountIdentity): Identities {
  const claims = { sessionIdClaim: 'session_id', sessionStateClaims: ['tier'], dependenciesClaims: [] };
  // what no test here asks for is left out
  const settings = {
    ...jwt,
    ...claims,
    jwtValidate: true,
    jwtKeys: ['x'.repeat(32)],
    ...given,
  } as unknown as AuthSettings;
  const verify = () => Promise.reject(new Error('There is no token.'));
  const find = async (id: string) => (account?.accountId === id ? account : undefined);
  const verifier = { verify } as unknown as TokenVerifier;
  return new Identities({ settings, verifier, accounts: { verify, find } });
}

const open = { authorization: false, jwtKeys: [] };
const key = { ...open, securityKey: 'k' };
const ada: KeptCaller = {
  by: 'jwt',
  userId: 'ada',
  scopes: ['agents:run'],
  claims: { sub: 'ada', tier: 'gold' },
};
const bot: AccountIdentity = {
  ...{ accountId: 'a1', principal: 'sa:bot', madeBy: 'ada', scopes: ['agents:a:run'], expiresAt: null },
};

test('what is kept of a caller gives the same caller, with the rights of now', async () => {
  const person = await identities({}).restored(ada);
  expect(keptCaller(person)).toEqual(ada);
  expect(person).toMatchObject({ userId: 'ada', scope: { kind: 'user', userId: 'ada' }, proven: true });
  expect(person.bound.sessionState).toEqual({ tier: 'gold' });
  expect([person.rights.may('agents:run'), person.rights.may('teams:run')]).toEqual([true, false]);
  const asked: unknown[] = [];
  const changed = await identities({}).restored(ada, async (holder) => {
    asked.push(holder);
    return ['teams:run'];
  });
  expect(asked).toEqual([{ userId: 'ada', claims: { sub: 'ada', tier: 'gold' } }]);
  expect([changed.rights.may('agents:run'), changed.rights.may('teams:run')]).toEqual([false, true]);
  // what JavaScript may return
  for (const rubbish of [undefined, 'agents:run', [null], { includes: () => true, flatMap: () => [] }])
    await expect(identities({}).restored(ada, () => rubbish as unknown as null)).rejects.toThrow(TypeError);
  const account = await identities({}, bot).restored({
    by: 'service_account',
    accountId: 'a1',
    userId: 'sa:bot',
  });
  expect(keptCaller(account)).toEqual({ by: 'service_account', accountId: 'a1', userId: 'sa:bot' });
  expect(account.rights.may('agents:run', 'a')).toBe(true);
  expect(keptCaller(anonymousCaller)).toEqual({ by: 'open' });
  expect(keptCaller(await identities(key).restored({ by: 'security_key' }))).toEqual({ by: 'security_key' });
  const service = await identities({}).restored({ by: 'service' });
  expect([service.userId, service.rights.may('agents:run'), service.rights.may('sessions:read')]).toEqual([
    ...['__scheduler__', true, false],
  ]);
  expect(await identities(open).restored({ by: 'service' })).toEqual(anonymousCaller);
  expect(await identities(open).restored(ada)).toMatchObject({ userId: 'ada', proven: false });
});

test('what is left of no caller is refused with the reason', async () => {
  const restored = (given: object, kept: KeptCaller, scopes?: readonly string[] | null) =>
    identities(given, bot).restored(kept, scopes === undefined ? undefined : () => scopes);
  const gone: KeptCaller = { by: 'service_account', accountId: 'a2', userId: 'sa:bot' };
  for (const [refused, reason] of [
    [restored({}, gone), 'the service account sa:bot was revoked, has expired or was deleted'],
    [restored({}, ada, null), 'scheduleRights grants nothing to ada'],
    [restored({}, { by: 'open' }), 'made while the service had no authorization'],
    [restored(key, ada), 'no longer accepts the kind of token'],
    [restored({}, { by: 'security_key' }), 'no longer accepts the kind of token'],
  ] as const)
    await expect(refused).rejects.toMatchObject({ status: 403, message: expect.stringContaining(reason) });
});

test('a call in the name of a caller meets the rights and the validation of a request from outside', async () => {
  const echo = defineRoute({
    method: 'POST',
    path: '/agents/:agent_id/echo',
    operationId: 'echo',
    scope: 'agents:run',
    tag: 'Test',
    summary: 'x',
    accepts: 'json',
    params: z.object({ agent_id: z.string() }),
    body: z.object({ text: z.string() }),
    responses: {},
    handler: (_services, { body, caller }) => ({ ...(body as object), by: caller.userId }),
  });
  const known = identities({}, bot);
  const authenticator = new Authenticator({
    settings: { ...jwt } as unknown as AuthSettings,
    identities: known,
  });
  const { server, url } = await startServer([echo], {
    resolveCaller: (request) => authenticator.admit(request),
  });
  const own = new OwnCalls();
  own.open(known, server);
  const call = async (caller: Caller, path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const response = await own.call(caller, path, { method: 'POST', headers, body: JSON.stringify(body) });
    return [response.status, await response.json()];
  };
  const account = await own.caller({ by: 'service_account', accountId: 'a1', userId: 'sa:bot' });
  expect(await call(account, '/agents/a/echo', { text: 'hi' })).toEqual([200, { text: 'hi', by: 'sa:bot' }]);
  expect(await call(account, '/agents/b/echo', { text: 'hi' })).toMatchObject([
    403,
    { detail: 'Insufficient permissions. Required scope(s): agents:run' },
  ]);
  expect(await call(account, '/agents/a/echo', {})).toMatchObject([422, {}]);
  expect(await call(account, '/nowhere', {})).toMatchObject([404, {}]);
  expect(await call({ ...account, rights: Rights.none }, '/agents/a/echo', { text: 'hi' })).toMatchObject([
    403,
    {},
  ]);
  // nobody else becomes a caller without a token
  const outside = await fetch(`${url}/agents/a/echo`, { method: 'POST', body: '{}' });
  expect(outside.status).toBe(401);
});
