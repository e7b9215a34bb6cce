import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LogLine, recordingLog } from '../support/clients/http-server.js';
import { freshSqlite } from '../support/databases.js';
import { HandClient, jsonOf, openConsent, redirectUri, tokensOf, verifier } from './browser.js';
import { connectSecret, guardedService, sharedGuardedService, signingKey } from './guarded-service.js';

const fault = async (answer: Response) => {
  const { error } = await jsonOf(answer);
  return `${answer.status} ${error}`;
};

let shared: Awaited<ReturnType<typeof sharedGuardedService>>;

beforeAll(async () => {
  shared = await sharedGuardedService();
});
afterAll(() => shared.close());

/** One of its own, for a test that uses up a limit. */
async function aService(): Promise<string> {
  return guardedService(await (await freshSqlite()).open());
}

test('metadata is found under both paths, and names this very server', async () => {
  const { url } = shared;
  const get = async (path: string) => (await fetch(url + path)).json();
  for (const path of ['', '/mcp']) {
    expect(await get(`/.well-known/oauth-protected-resource${path}`)).toEqual({
      resource: `${url}/mcp`,
      authorization_servers: [`${url}/`],
      scopes_supported: [],
      bearer_methods_supported: ['header'],
    });
    expect(await get(`/.well-known/oauth-authorization-server${path}`)).toMatchObject({
      issuer: `${url}/`,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      revocation_endpoint: `${url}/revoke`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  }
  // what a request says of the address counts only on the own machine, and only its host
  const foreign = await fetch(`${url}/.well-known/oauth-protected-resource`, {
    headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
  });
  expect(await foreign.json()).toMatchObject({ resource: `${url}/mcp` });
});

test('only public clients with safe redirect URIs are registered', async () => {
  const url = await aService();
  const answer = await HandClient.register(url, { redirect_uris: [redirectUri], client_name: 'Mine' });
  expect(answer.status).toBe(201);
  expect(await answer.json()).toEqual({
    client_id: expect.stringMatching(/^[\da-f-]{36}$/),
    client_id_issued_at: expect.any(Number),
    client_name: 'Mine',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'agents:run teams:run workflows:run sessions:read config:read',
  });
  for (const [metadata, expected] of [
    [{ redirect_uris: [redirectUri], token_endpoint_auth_method: 'client_secret_post' }, 'client_metadata'],
    [{ redirect_uris: [redirectUri], grant_types: ['client_credentials'] }, 'client_metadata'],
    [{}, 'redirect_uri'],
    [{ redirect_uris: [] }, 'redirect_uri'],
    [{ redirect_uris: ['javascript:alert(1)'] }, 'redirect_uri'],
    [{ redirect_uris: ['http://evil.example/'] }, 'redirect_uri'],
    [[], 'client_metadata'],
  ] as const)
    expect(await fault(await HandClient.register(url, metadata))).toBe(`400 invalid_${expected}`);
  const broken = await fetch(`${url}/register`, {
    method: 'POST',
    body: '{',
    headers: { 'content-type': 'application/json' },
  });
  expect(await fault(broken)).toBe('400 invalid_request');
  let last: Response | undefined;
  for (let count = 0; count < 21; count++) last = await HandClient.register(url, {});
  expect(last?.status).toBe(429);
  expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('an authorization request is sent nowhere that was not registered, and errors to no stranger', async () => {
  const { url } = shared;
  const client = await HandClient.registered(url, { redirect_uris: [redirectUri], scope: 'agents:run own' });
  for (const further of [
    { client_id: undefined },
    { client_id: 'unknown' },
    { client_id: 'https://127.0.0.1/metadata.json' },
    { redirect_uri: undefined },
    { redirect_uri: 'http://127.0.0.1:4711/other' },
    { redirect_uri: 'http://127.0.0.1:4711@evil.example/callback' },
    { redirect_uri: 'http://localhost:4711/callback' },
  ]) {
    const answer = await client.authorize(further);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.get('content-type')).toContain('text/html');
  }
  // a program may choose its port; what is wrong is said to it, with who says so
  for (const [further, error] of [
    [{ scope: 'sessions:read' }, 'invalid_scope'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
  ] as const) {
    const answer = await client.authorize({
      redirect_uri: 'http://127.0.0.1:9/callback',
      state: 's&t',
      ...further,
    });
    expect(answer.status).toBe(302);
    const back = new URL(answer.headers.get('location') ?? '');
    expect(back.origin).toBe('http://127.0.0.1:9');
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 's&t', iss: `${url}/` });
  }
  // anyone can register any address: a link to this service must not lead there by itself
  const elsewhere = 'https://phishing.example/?x=1';
  const stranger = await HandClient.registered(url, { redirect_uris: [elsewhere] });
  const answer = await stranger.authorize({ redirect_uri: elsewhere, scope: 'none' });
  expect(answer.status).toBe(400);
  expect(answer.headers.get('location')).toBeNull();
  expect(await answer.text()).toContain('phishing.example');
});

test('a person decides on a page that no other page can use', async () => {
  const url = await aService();
  const client = await HandClient.registered(url);
  const form = await openConsent(client.address({ state: 'mine', resource: `${url}/mcp/` }));
  expect(form.url.startsWith(`${url}/mcp-auth/consent?txn=`)).toBe(true);
  expect(form.page.status).toBe(200);
  expect(form.page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(form.page.headers.get('set-cookie')).toMatch(
    /; Path=\/mcp-auth\/consent; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
  expect(form.text).not.toContain('<script');
  expect(form.text).toContain('127.0.0.1:4711 (this computer)');

  const approval = { decision: 'approve', secret: connectSecret };
  expect((await form.answer({ ...approval, csrf: 'x' })).status).toBe(400);
  expect((await form.answer(approval, { cookie: '' })).status).toBe(400);
  const otherForm = await openConsent(client.address());
  expect((await form.answer({ ...approval, csrf: otherForm.field('csrf') })).status).toBe(400);
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect((await form.answer(approval, foreign)).status).toBe(403);
  expect((await fetch(`${url}/mcp-auth/consent?txn=${form.field('txn')}x`)).status).toBe(404);

  for (let count = 0; count < 10; count++) {
    const wrong = await form.answer({ ...approval, secret: 'wrong secret' });
    expect(wrong.status).toBe(200);
    if (count === 0) expect(await wrong.text()).toContain('The secret is wrong.');
  }
  const limited = await form.answer({ ...approval, secret: 'wrong secret' });
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);

  const denied = new URL((await otherForm.answer({ decision: 'deny' })).headers.get('location') ?? '');
  expect(denied.searchParams.get('error')).toBe('access_denied');
  expect(denied.searchParams.get('iss')).toBe(`${url}/`);
  // the right secret is not refused because of wrong ones, and a request is approved once
  const back = await form.approve();
  expect([...back.searchParams.keys()]).toEqual(['code', 'state', 'iss']);
  expect((await form.answer(approval)).status).toBe(404);
});

test('a code is redeemed once, with its verifier, by its client', async () => {
  const { url } = shared;
  const [client, other] = [await HandClient.registered(url), await HandClient.registered(url)];
  const code = await client.code();
  for (const [answer, expected] of [
    [client.redeem(code, { code_verifier: 'w'.repeat(43) }), 'invalid_grant'],
    [client.redeem(code, { code_verifier: '' }), 'invalid_grant'],
    [client.redeem(code, { redirect_uri: 'http://127.0.0.1:1/callback' }), 'invalid_grant'],
    [client.redeem(code, { resource: 'https://other.example/mcp' }), 'invalid_target'],
    [other.redeem(code), 'invalid_grant'],
    [client.redeem('unknown'), 'invalid_grant'],
    [client.redeem(code, { client_id: 'unknown' }), 'invalid_client'],
    [client.post('/token', {}), 'invalid_request'],
    [client.post('/token', { grant_type: 'password' }), 'unsupported_grant_type'],
  ] as const)
    expect(await fault(await answer)).toBe(`400 ${expected}`);
  const basic = await client.post('/token', {}, { authorization: 'Basic eDp5' });
  expect(await fault(basic)).toBe('401 invalid_client');
  const json = await fetch(`${url}/token`, {
    method: 'POST',
    body: '<x/>',
    headers: { 'content-type': 'a/b' },
  });
  expect(await fault(json)).toBe('415 invalid_request');

  const answer = await client.redeem(code);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { access_token: token } = await tokensOf(answer);
  expect(await client.call(token)).toBe(200);
  // presented again, it was stolen: whatever came of it ends
  expect(await fault(await client.redeem(code))).toBe('400 invalid_grant');
  expect(await client.call(token)).toBe(401);
});

test('a refresh token is used once; used again, it ends its whole family and no other', async () => {
  const { url } = shared;
  const client = await HandClient.registered(url);
  const [stolen, unconcerned] = [await client.connected(), await client.connected()];
  expect(await fault(await client.refresh(stolen.refresh_token, { scope: 'evals:write' }))).toBe(
    '400 invalid_scope',
  );
  const narrowed = await tokensOf(await client.refresh(stolen.refresh_token, { scope: 'agents:run' }));
  expect(narrowed.scope).toBe('agents:run');
  const third = await tokensOf(await client.refresh(narrowed.refresh_token));
  expect(third.scope).toContain('sessions:read');
  expect(await fault(await client.refresh(stolen.refresh_token))).toBe('400 invalid_grant');
  for (const token of [stolen, narrowed, third]) expect(await client.call(token.access_token)).toBe(401);
  expect(await fault(await client.refresh(third.refresh_token))).toBe('400 invalid_grant');
  expect(await client.call(unconcerned.access_token)).toBe(200);
});

test('a public client revokes its own tokens and no others', async () => {
  const { url } = shared;
  const [client, other] = [await HandClient.registered(url), await HandClient.registered(url)];
  const [one, two] = [await client.connected(), await client.connected()];
  expect((await other.revoke(one.refresh_token)).status).toBe(200);
  expect((await client.revoke('unknown')).status).toBe(200);
  expect(await client.call(one.access_token)).toBe(200);
  expect((await client.revoke(one.refresh_token)).status).toBe(200);
  expect(await client.call(one.access_token)).toBe(401);
  expect((await client.revoke(two.access_token)).status).toBe(200);
  expect(await fault(await client.refresh(two.refresh_token))).toBe('400 invalid_grant');
  expect(await fault(await client.post('/revoke', {}))).toBe('400 invalid_request');
});

test('the tokens are for the endpoint of this service alone, and the tokens of the service work beside them', async () => {
  const jwtKeys = ['s'.repeat(32)];
  const database = await (await freshSqlite()).open();
  const url = await guardedService(database, { settings: { authorization: true, jwtKeys } });
  const client = await HandClient.registered(url);
  const { access_token: token, refresh_token: refresh } = await client.connected();
  const authorization = `Bearer ${token}`;
  expect((await fetch(`${url}/config`, { headers: { authorization } })).status).toBe(401);
  // the same keys and database under another address are another audience
  const elsewhere = await guardedService(database, { publicUrl: 'https://other.example' });
  const refused = await fetch(`${elsewhere}/mcp`, { method: 'POST', headers: { authorization } });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    'Bearer error="invalid_token", resource_metadata="https://other.example/.well-known/oauth-protected-resource/mcp"',
  );
  const rotation = { grant_type: 'refresh_token', client_id: client.clientId, refresh_token: refresh };
  const moved = await fetch(`${elsewhere}/token`, { method: 'POST', body: new URLSearchParams(rotation) });
  expect(await fault(moved)).toBe('400 invalid_grant');
  expect(await client.call(jwtOf({ sub: 'ada', scopes: [] }, jwtKeys[0]))).toBe(200);
  expect(await client.call(jwtOf({ sub: 'ada', scopes: [] }, 'another key'.repeat(4)))).toBe(401);
  // the signing key itself signs nothing: no token made with it is taken for one of ours
  const [header = '', payload = ''] = token.split('.');
  const mac = createHmac('sha256', signingKey).update(`${header}.${payload}`).digest('base64url');
  expect(await client.call(`${header}.${payload}.${mac}`)).toBe(401);

  // a service without authorization takes anyone elsewhere, and nobody here
  const open = await HandClient.registered(elsewhere);
  expect((await fetch(`${elsewhere}/config`)).status).toBe(200);
  expect(await open.call('anything')).toBe(401);
  expect((await fetch(`${elsewhere}/mcp`, { method: 'POST' })).status).toBe(401);
});

function jwtOf(claims: object, key = ''): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ exp: 4e9, ...claims })}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

test('no log line and no row holds a secret or a token', async () => {
  const lines: LogLine[] = [];
  const database = await (await freshSqlite()).open();
  const url = await guardedService(database, { log: recordingLog(lines) });
  const client = await HandClient.registered(url);
  const code = await client.code({ state: 'a-secret-state' });
  const first = await tokensOf(await client.redeem(code));
  const second = await tokensOf(await client.refresh(first.refresh_token));
  await client.refresh(first.refresh_token);
  await client.call(second.access_token);
  const text = JSON.stringify(lines);
  expect(text).toContain('presented twice');
  expect(text).toContain(client.clientId);
  const rows = await Promise.all([
    database.query.selectFrom('mcp_oauth_tokens').selectAll().execute(),
    database.query.selectFrom('mcp_oauth_grants').selectAll().execute(),
  ]);
  const secrets = [first, second].flatMap((tokens) => [tokens.access_token, tokens.refresh_token]);
  for (const secret of [...secrets, code, connectSecret, signingKey, verifier, 'a-secret-state']) {
    expect(text).not.toContain(secret);
    expect(JSON.stringify(rows)).not.toContain(secret);
  }
});
