import { expect, it, onTestFinished } from 'vitest';
import type { AuthorizationServer } from '../../../src/capabilities/mcp-oauth/authorization-server.js';
import { challengeOf } from '../../../src/capabilities/mcp-oauth/keys.js';
import { McpOauthService } from '../../../src/capabilities/mcp-oauth/service.js';
import { OauthStore } from '../../../src/capabilities/mcp-oauth/store.js';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { silentLog } from '../../../src/core/log.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';

const secret = 'correct horse battery';
const redirectUri = 'http://127.0.0.1:1/callback';
const verifier = 'v'.repeat(43);
const day = 86_400_000;
const site = {
  issuer: 'https://agents.example/',
  resource: 'https://agents.example/mcp',
  tokenEndpoint: 'https://agents.example/token',
  clientAddress: '127.0.0.1',
};

function serverOver(database: Database, cacheMs = 0): Promise<AuthorizationServer> {
  return new McpOauthService(database, silentLog).open({
    secret,
    signingKey: 'k'.repeat(32),
    scopes: ['agents:run'],
    cacheMs,
    fetchAllowedHosts: [],
  });
}

/** Two processes with the same database. */
async function twoProcesses(place: DatabasePlace) {
  return [await serverOver(await place.open()), await serverOver(await place.open())] as const;
}

async function connecting(server: AuthorizationServer) {
  const { client } = await server.register({ redirect_uris: [redirectUri] }, 'here');
  const step = await server.authorize(
    {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    },
    site,
    'here',
  );
  const transaction = step.to === 'consent' ? step.transaction : '';
  const answer = { transaction, secret, approves: true, clientAddress: 'here' };
  const result = await server.answer(answer, site);
  const location = result.kind === 'decided' ? result.location : '';
  return { clientId: client.clientId, code: new URL(location).searchParams.get('code') ?? '' };
}

const redemption = ({ clientId, code }: { clientId: string; code: string }) => ({
  grant_type: 'authorization_code',
  client_id: clientId,
  code,
  code_verifier: verifier,
});
const refreshing = (clientId: string, token = '') => ({
  grant_type: 'refresh_token',
  client_id: clientId,
  refresh_token: token,
});

forEachDatabase((_dialect, freshPlace) => {
  it('lets one of two processes redeem a code or a refresh token, and ends the family of both', async () => {
    const [one, other] = await twoProcesses(await freshPlace());
    const given = await connecting(one);
    const issue = (form: object) =>
      Promise.allSettled([one, other, one, other].map(({ endpoint }) => endpoint.issue(form, site)));
    const first = await issue(redemption(given));
    const won = first.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(won).toHaveLength(1);
    await expect(other.tokens.verify(won[0]?.access_token ?? '', site)).rejects.toThrow(/revoked/);

    const again = await connecting(other);
    const tokens = await one.endpoint.issue(redemption(again), site);
    expect(await other.tokens.verify(tokens.access_token, site)).toEqual({
      userId: `__oauth__:${again.clientId}`,
      scopes: ['agents:run'],
    });
    const second = await issue(refreshing(again.clientId, tokens.refresh_token));
    const rotated = second.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(rotated).toHaveLength(1);
    for (const { access_token: token } of [tokens, ...rotated])
      await expect(one.tokens.verify(token, site)).rejects.toThrow(/revoked/);
    await expect(
      one.endpoint.issue(refreshing(again.clientId, rotated[0]?.refresh_token), site),
    ).rejects.toThrow(/revoked/);
  });

  it('refuses expired codes and tokens, and another process learns of a revocation when its trust ends', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const server = await serverOver(database);
    const trusting = await serverOver(await place.open(), 3_600_000);
    const given = await connecting(server);
    const expire = (table: 'mcp_oauth_tokens' | 'mcp_oauth_clients' | 'mcp_oauth_grants') =>
      database.query.updateTable(table).set({ expires_at: 1 }).execute();
    await expire('mcp_oauth_tokens');
    await expect(server.endpoint.issue(redemption(given), site)).rejects.toThrow(/expired/);
    const again = await connecting(server);
    const { access_token: token, refresh_token: refresh } = await server.endpoint.issue(
      redemption(again),
      site,
    );
    await trusting.tokens.verify(token, site);
    const store = new OauthStore(database);
    const hash = server.keys.hash('refresh', refresh ?? '');
    const { grant } = (await store.findToken(hash, 'refresh')) ?? {};
    expect(await store.findToken(hash, 'code')).toBeUndefined();
    expect([await store.isApproved(again.clientId), await store.isApproved(given.clientId)]).toEqual([
      true,
      false,
    ]);
    await server.endpoint.revoke({ token: refresh, client_id: again.clientId }, site);
    await expect(server.tokens.verify(token, site)).rejects.toThrow(/revoked/);
    expect(await store.isApproved(again.clientId)).toBe(false);
    const rotation = {
      hash,
      kind: 'refresh',
      refreshHash: undefined,
      lifeMs: day,
      clientLifeMs: day,
    } as const;
    // a revocation while a token is being exchanged
    expect(grant && (await store.redeem({ ...rotation, grant }))).toBe(false);
    // as service accounts: `serviceAccountCacheSeconds`
    await expect(trusting.tokens.verify(token, site)).resolves.toBeDefined();
    await expire('mcp_oauth_clients');
    await expect(server.endpoint.issue(refreshing(again.clientId, refresh), site)).rejects.toThrow(
      /registration has expired/,
    );
  });

  it('keeps at most 1000 registrations that nobody approved, and removes what has expired', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const server = await serverOver(database);
    const approved = await connecting(server);
    await server.endpoint.issue(redemption(approved), site);
    const forgotten = await connecting(server);
    const row = (position: number) => ({
      client_id: `pending-${position}`,
      metadata: '{}',
      pending: 1,
      created_at: position,
      expires_at: 4e12,
    });
    const rows = Array.from({ length: 1000 }, (_, position) => row(position));
    await database.query.insertInto('mcp_oauth_clients').values(rows).execute();
    const { client } = await server.register({ redirect_uris: [redirectUri] }, 'here');
    const store = new OauthStore(database);
    const known = async (clientId: string) => (await store.findClient(clientId)) !== undefined;
    expect(await Promise.all(['pending-0', 'pending-1', 'pending-2'].map(known))).toEqual([
      false,
      false,
      true,
    ]);
    expect(await known(client.clientId)).toBe(true);

    const sweep = async (at: number) => {
      const timers = { ...systemTimers, now: () => at };
      const settings = { eventRetentionHours: 24, traceRetentionDays: 30 };
      const retention = new RetentionService(database, { settings, timers, log: silentLog });
      onTestFinished(() => retention.end());
      await retention.sweep();
      const grants = await database.query.selectFrom('mcp_oauth_grants').select('client_id').execute();
      return grants.map((grant) => grant.client_id);
    };
    expect((await sweep(Date.now())).sort()).toEqual([approved.clientId, forgotten.clientId].sort());
    expect(await sweep(Date.now() + 2 * day)).toEqual([approved.clientId]);
    expect(await sweep(Date.now() + 40 * day)).toEqual([]);
    expect(await known(approved.clientId)).toBe(true);
    await sweep(Date.now() + 100 * day);
    for (const table of ['mcp_oauth_tokens', 'mcp_oauth_grants'] as const)
      expect(await database.query.selectFrom(table).selectAll().execute()).toEqual([]);
    expect(await known(approved.clientId)).toBe(false);
  });
});
