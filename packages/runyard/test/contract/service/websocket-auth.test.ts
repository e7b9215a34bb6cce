import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { agent, type RunyardOptions, step, team, tool, workflow } from '../../../src/index.js';
import { signedWithSecret } from '../../support/clients/issuer.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
const secret = 'the secret of the tests of the WebSocket';
const securityKey = 'the-one-key-of-this-service';
const agents = [
  agent({ id: 'a', model: book.model }),
  agent({ id: 'b', model: book.model }),
  agent({
    id: 'careful',
    model: book.model,
    tools: [
      tool({
        name: 'send',
        description: 'Sends a letter.',
        inputSchema: z.object({}),
        requiresConfirmation: true,
        execute: () => 'sent',
      }),
    ],
  }),
];
const options: RunyardOptions = {
  agents,
  teams: [team({ id: 't', model: book.model, members: [agent({ id: 'm', model: book.model })] })],
  workflows: [workflow({ id: 'w', steps: [step({ name: 'one', run: () => 'done' })] })],
  websocket: true,
};

const token = (sub: string | null, scopes: readonly string[], claims: object = {}) =>
  signedWithSecret(secret, { ...(sub !== null && { sub }), scopes: [...scopes], ...claims });
const everything = ['agents:run', 'teams:run', 'workflows:run'];
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ ...options, authorization: true, jwtKeys: [secret] });
});
afterAll(() => service.stop());

const connect = (path = '/agents/ws', { url } = service) => WsClient.connect(url, path);

/** The answers to a token, until it is accepted or refused. */
async function presented(client: WsClient, given: string) {
  const before = client.frames.length;
  client.send({ action: 'authenticate', token: given });
  client.send({ action: 'ping' });
  await client.until(() => client.names.slice(before).includes('pong'));
  return client.frames
    .slice(before)
    .map(({ payload }) => payload)
    .filter(({ event }) => event !== 'pong');
}

async function speaking(given: string | Promise<string>, path = '/agents/ws', at = service) {
  const client = await connect(path, at);
  const frames = await presented(client, await given);
  expect(frames[0]?.event).toBe('authenticated');
  return client;
}

async function runOf(client: WsClient, frame: object = {}): Promise<string> {
  const before = client.frames.length;
  client.send({ action: 'start-agent', agent_id: 'a', message: 'Hello', ...frame });
  const { payload } = await client.until(() => client.frames[before]);
  expect(payload).toMatchObject({ event: 'RunStarted' });
  await client.event('RunCompleted', ({ run_id }) => run_id === payload.run_id);
  return payload.run_id;
}

const success = {
  event: 'authenticated',
  message: 'Authentication successful. You can now send commands.',
};

describe('before authentication', () => {
  test('a client gets an error, and nothing is done for it', async () => {
    const client = await connect('/workflows/ws');
    expect(client.frames[0]?.payload).toEqual({
      event: 'connected',
      message: 'Connected to Runyard. Please authenticate to continue.',
      requires_auth: true,
    });
    const required = {
      event: 'auth_required',
      error: 'Authentication required. Send authenticate action with valid JWT.',
    };
    expect(await client.ask({ action: 'start-workflow', workflow_id: 'w' })).toEqual(required);
    expect(await client.ask({ action: 'reconnect', run_id: 'x' })).toEqual(required);
    expect(await client.ask({ action: 'zzz' })).toEqual(required);
    expect(await client.ask('{nonsense')).toMatchObject({ event: 'error', error_code: 'invalid_frame' });
    expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
    expect(await client.ask({ action: 'authenticate' })).toEqual({
      event: 'auth_error',
      error: 'Token is required',
    });
  });

  test.each<[string, () => string | Promise<string>, object]>([
    ['no JWT', () => 'nonsense', { error: 'Not enough segments' }],
    [
      'another secret',
      () => signedWithSecret('x'.repeat(40), { sub: 'a' }),
      { error: 'Signature verification failed' },
    ],
    [
      'expired',
      () => token('ada', everything, { exp: inSeconds(-60) }),
      { error: 'Signature has expired', error_type: 'expired' },
    ],
    ['a reserved subject', () => token('sa:ci', everything), { error: 'Invalid token subject' }],
  ])('%s is refused with the reason', async (_name, make, expected) => {
    const [frame, ...others] = await presented(await connect(), await make());
    expect(frame).toEqual({
      event: 'auth_error',
      error_type: 'invalid_token',
      error_code: expect.any(String),
      ...expected,
    });
    expect(others).toEqual([]);
  });

  test('another audience is named', async () => {
    const strict = await startService({
      ...options,
      authorization: true,
      jwtKeys: [secret],
      jwtAudience: ['adm'],
    });
    const frames = await presented(
      await connect('/agents/ws', strict),
      await token('ada', everything, { aud: 'zz' }),
    );
    expect(frames).toMatchObject([
      {
        event: 'auth_error',
        error: "Invalid audience. Expected one of: ['adm'], got: ['zz']",
        error_type: 'invalid_token',
      },
    ]);
  });
});

describe('a token', () => {
  test('is answered with two frames; after it, unknown actions get their own error', async () => {
    const client = await connect();
    expect(await presented(client, await token('alice', everything))).toEqual([
      success,
      { event: 'authenticated', message: 'JWT authentication successful.', user_id: 'alice' },
    ]);
    expect(await client.ask({ action: 'zzz' })).toMatchObject({
      event: 'error',
      error: 'Unknown action: zzz',
    });
    await runOf(client);
  });

  test('of a later authenticate wins', async () => {
    const client = await speaking(token('alice', everything));
    await presented(client, await token('bob', everything));
    const runId = await runOf(client, { user_id: 'alice' });
    const alice = await speaking(token('alice', everything));
    expect(await alice.ask({ action: 'reconnect', run_id: runId })).toMatchObject({
      error: `Run ${runId} not found in buffer or database`,
    });
    const bob = await speaking(token('bob', everything));
    expect(await bob.ask({ action: 'reconnect', run_id: runId })).toMatchObject({ event: 'replay' });
  });

  test('that expires stops what was followed, and a new one resumes it', async () => {
    const strict = await startService({
      ...options,
      authorization: true,
      jwtKeys: [secret],
      jwtLeewaySeconds: 0,
    });
    const rest = gate();
    book.write('outlives its token', { chunks: ['begun ', rest.opened, 'and finished'] });
    const client = await speaking(
      token('ada', everything, { exp: inSeconds(4) }),
      '/agents/ws?format=json',
      strict,
    );
    client.send({ action: 'start-agent', agent_id: 'a', message: 'outlives its token', run_id: 'long' });
    const required = await client.event('auth_required');
    expect(required).toMatchObject({ error_type: 'expired', runs: [{ run_id: 'long' }] });
    rest.open();
    expect(await client.ask({ action: 'reconnect', run_id: 'long' })).toMatchObject({
      event: 'auth_required',
    });
    expect(client.contentOf('long')).toBe('begun ');
    await presented(client, await token('ada', everything));
    client.send({ action: 'reconnect', agent_id: 'a', ...required.runs[0] });
    await client.event('RunCompleted');
    expect(client.contentOf('long')).toBe('begun and finished');
    const indices = client.indicesOf('long');
    expect(indices).toEqual([...new Set(indices)].sort((one, other) => one - other));
  });
});

describe('scopes', () => {
  const denied = (error: string) => ({ event: 'error', error, error_code: 'insufficient_scope' });

  test.each([
    ['agent', 'a'],
    ['team', 't'],
    ['workflow', 'w'],
  ])('of a %s are asked for by every action', async (kind, id) => {
    const path = `/${kind}s/ws`;
    const field = `${kind}_id`;
    const other = await speaking(token('ada', ['sessions:read', `${kind}s:other:run`]), path);
    const ask = (client: WsClient, action: string, frame: object = {}) =>
      client.ask({ action, [field]: id, run_id: 'x', message: 'm', ...frame });
    const texts = {
      [`start-${kind}`]: 'run',
      [`continue-${kind}`]: 'continue',
      [`cancel-${kind}`]: 'cancel',
      reconnect: 'reconnect to',
    };
    for (const [action, doing] of Object.entries(texts))
      expect(await ask(other, action)).toMatchObject(
        denied(`Insufficient permissions to ${doing} this ${kind}`),
      );
    const reader = await speaking(token('ada', [`${kind}s:read`]), path);
    expect(await ask(reader, `start-${kind}`)).toMatchObject(
      denied(`Insufficient permissions to run this ${kind}`),
    );
    expect(await ask(reader, 'reconnect')).toMatchObject({ error_code: 'run_not_found' });
    const one = await speaking(token('ada', [`${kind}s:${id}:run`]), path);
    expect(await ask(one, 'reconnect')).toMatchObject({ error_code: 'run_not_found' });
    expect(await ask(one, `cancel-${kind}`)).toMatchObject({ event: 'cancel_requested' });
    const nothing = await speaking(token('ada', []), path);
    expect(await ask(nothing, 'reconnect', { [field]: null })).toMatchObject(
      denied(`Insufficient permissions to reconnect to this ${kind}`),
    );
  });

  test('of one agent let its runs be found, and no others', async () => {
    const all = await speaking(token('ada', everything));
    const ofA = await runOf(all);
    const ofB = await runOf(all, { agent_id: 'b' });
    const one = await speaking(token('ada', ['agents:b:read']));
    expect(await one.ask({ action: 'reconnect', run_id: ofB })).toMatchObject({ event: 'replay' });
    const other = await speaking(token('ada', ['agents:b:read']));
    expect(await other.ask({ action: 'reconnect', run_id: ofA })).toMatchObject({
      error_code: 'run_not_found',
    });
  });

  test('an admin by another name is one here too, and the usual name is nothing then (FIX-24)', async () => {
    const renamed = await startService({
      ...options,
      authorization: true,
      jwtKeys: [secret],
      adminScope: 'our:root',
    });
    await runOf(await speaking(token('root', ['our:root']), '/agents/ws', renamed));
    const usual = await speaking(token('root', ['agent_os:admin']), '/agents/ws', renamed);
    expect(await usual.ask({ action: 'start-agent', agent_id: 'a', message: 'x' })).toMatchObject(
      denied('Insufficient permissions to run this agent'),
    );
  });

  test('are not asked for where authorization is off', async () => {
    const lenient = await startService({ ...options, jwtKeys: [secret] });
    expect((await connect('/agents/ws', lenient)).frames[0]?.payload.requires_auth).toBe(true);
    await runOf(await speaking(token('ada', []), '/agents/ws', lenient));
  });
});

describe('people are kept apart', () => {
  test('a run belongs to the user of the token, whichever user the client names, and to others it does not exist', async () => {
    const ada = await speaking(token('ada', everything));
    const runId = await runOf(ada, { user_id: 'bob' });
    const headers = { authorization: `Bearer ${await token('ada', ['agents:read'])}` };
    expect((await service.get(`/agents/a/runs/${runId}`, headers)).body).toMatchObject({ user_id: 'ada' });
    const bob = await speaking(token('bob', everything));
    for (const action of ['reconnect', 'continue-agent'])
      expect(await bob.ask({ action, agent_id: 'a', run_id: runId, input: 'x' })).toMatchObject({
        error_code: 'run_not_found',
      });
    const nobody = await speaking(token(null, everything));
    expect(await nobody.ask({ action: 'reconnect', run_id: runId })).toMatchObject({
      error_code: 'run_not_found',
    });
  });

  test('an admin names a user, and continues a run of theirs', async () => {
    const admin = await speaking(token('root', ['agent_os:admin']));
    const named = await runOf(admin, { user_id: 'carol' });
    const carol = await speaking(token('carol', everything));
    expect(await carol.ask({ action: 'reconnect', run_id: named })).toMatchObject({ event: 'replay' });
    book.write('Ask first', { toolCalls: [{ name: 'send', arguments: {} }] }, 'Sent it.');
    carol.send({ action: 'start-agent', agent_id: 'careful', message: 'Ask first' });
    const { run_id, tools } = await carol.event('RunPaused');
    const confirmed = tools.map((call: object) => ({ ...call, confirmed: true }));
    admin.send({ action: 'continue-agent', agent_id: 'careful', run_id, tools: confirmed });
    await admin.event('RunCompleted', (payload) => payload.run_id === run_id);
    expect(admin.contentOf(run_id)).toBe('Sent it.');
  });
});

describe('other ways to prove who one is', () => {
  async function account(at: TestService, name: string, scopes: readonly string[], bearer: string) {
    const { status, body } = await at.call('POST', '/service-accounts', {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ name, scopes: scopes.map((scope) => ({ scope })) }),
    });
    expect(status).toBe(201);
    return body as { id: string; token: string };
  }
  const badAccount = {
    event: 'auth_error',
    error: 'Invalid or expired service account token',
    error_code: 'invalid_service_account_token',
  };

  test('a service account, until it is revoked', async () => {
    const root = await token('root', ['agent_os:admin']);
    const { id, token: given } = await account(service, 'ci', ['agents:a:run'], root);
    const client = await connect();
    expect(await presented(client, given)).toEqual([
      success,
      { event: 'authenticated', message: 'Service account authentication successful.', user_id: 'sa:ci' },
    ]);
    await runOf(client, { user_id: 'ada' });
    expect(await client.ask({ action: 'start-agent', agent_id: 'b', message: 'x' })).toMatchObject({
      error: 'Insufficient permissions to run this agent',
    });
    const { status } = await service.call('DELETE', `/service-accounts/${id}`, {
      headers: { authorization: `Bearer ${root}` },
    });
    expect(status).toBe(204);
    expect(await client.ask({ action: 'start-agent', agent_id: 'a', message: 'x' })).toMatchObject({
      event: 'auth_required',
      error_type: 'invalid_token',
    });
    expect(await presented(client, given)).toEqual([badAccount]);
  });

  test('the security key, and no other', async () => {
    const keyed = await startService({ ...options, securityKey });
    const client = await connect('/agents/ws', keyed);
    expect(await client.ask({ action: 'start-agent', agent_id: 'a', message: 'x' })).toEqual({
      event: 'auth_required',
      error: 'Authentication required. Send authenticate action with valid bearer token.',
    });
    expect(await presented(client, `${securityKey}x`)).toEqual([
      { event: 'auth_error', error: 'Invalid token', error_code: 'security_key_wrong' },
    ]);
    expect(await presented(client, securityKey)).toEqual([success]);
    await runOf(client, { user_id: 'anybody' });
  });

  test('without authorization any token will do, and that of a service account counts', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'runyard-websocket-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const keyed = await TestService.start({ ...options, dataDir, securityKey });
    const { id, token: given } = await account(keyed, 'ci', ['agents:b:run'], securityKey);
    await keyed.stop();
    const open = await startService({ ...options, dataDir });
    const client = await connect('/agents/ws', open);
    expect(await presented(client, 'whatever')).toEqual([success]);
    await runOf(client);
    expect(await presented(client, given)).toMatchObject([success, { user_id: 'sa:ci' }]);
    expect(await client.ask({ action: 'start-agent', agent_id: 'a', message: 'x' })).toMatchObject({
      error: 'Insufficient permissions to run this agent',
    });
    expect((await open.call('DELETE', `/service-accounts/${id}`)).status).toBe(204);
    expect(await client.ask({ action: 'start-agent', agent_id: 'b', message: 'x' })).toMatchObject({
      event: 'auth_required',
    });
    expect(await presented(client, given)).toEqual([success]);
    await runOf(client);
  });
});
