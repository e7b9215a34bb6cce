import { generateKeyPairSync } from 'node:crypto';
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { importJWK } from 'jose';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import { a2a, aiSdk } from '../../../src/interfaces.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { type Body, startService, TestService } from '../../support/service.js';

const look = tool({ name: 'look', description: 'Looks something up', execute: () => 'seen' });
const clerk = agent({
  id: 'clerk',
  name: 'Clerk',
  description: 'Writes letters',
  model: 'offline',
  tools: [look],
});
const desk = team({ id: 'desk', name: 'Desk', model: 'offline', members: [clerk] });
const letters = workflow({ id: 'letters', name: 'Letters', steps: [step({ name: 'draft', agent: clerk })] });
const components = { agents: [clerk], teams: [desk], workflows: [letters] };

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signingKey = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** What the verifier takes, without a secret. */
type Key = Awaited<ReturnType<Parameters<typeof verifyAgentCardSignature>[0]>>;

const json = (response: Response): Promise<Body> => response.json();
const v1 = { 'a2a-version': '1.0' };
const at = (kind: string, id: string, prefix = '/a2a') =>
  `${prefix}/${kind}/${id}/.well-known/agent-card.json`;

let service: TestService;
let gatehouse: Gatehouse;
beforeAll(async () => {
  service = await TestService.start({
    ...components,
    trustedProxies: ['127.0.0.1'],
    interfaces: [
      a2a({ defaultComponent: { agent: clerk } }),
      a2a({
        signingKey,
        prefix: '/partners/a2a',
        agents: [clerk],
        publicUrl: 'https://public.example/api/',
        pureCards: true,
      }),
    ],
  });
  gatehouse = await Gatehouse.shared({
    ...components,
    interfaces: [a2a({ defaultComponent: { agent: clerk } })],
  });
});
afterAll(() => Promise.all([service.stop(), gatehouse.service.stop()]));

test('a client that names no version gets the card of 0.3, with the interfaces of 1.0', async () => {
  const { body, headers } = await service.get(at('agents', 'clerk'));
  const url = `${service.url}/a2a/agents/clerk`;
  expect(body).toMatchObject({
    name: 'Clerk',
    description: 'Writes letters',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
    url: `${url}/v1/message:stream`,
    defaultInputModes: ['text'],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      stateTransitionHistory: false,
      extensions: null,
    },
    skills: [{ id: 'clerk', name: 'Clerk', outputModes: ['application/json'], security: null }],
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    provider: null,
    securitySchemes: null,
    signatures: null,
  });
  expect(headers.get('vary')).toContain('a2a-version');
  const streaming = async (path: string) => (await service.get(path)).body.capabilities.streaming;
  expect(await Promise.all([streaming(at('teams', 'desk')), streaming(at('workflows', 'letters'))])).toEqual([
    true,
    true,
  ]);
});

test('with A2A-Version 1.0, or when cards are pure, nothing of 0.3 is in it', async () => {
  const own = [
    'url',
    'preferredTransport',
    'protocolVersion',
    'additionalInterfaces',
    'supportsAuthenticatedExtendedCard',
  ];
  for (const { body } of [
    await service.get(at('agents', 'clerk'), v1),
    await service.get(at('agents', 'clerk', '/partners/a2a')),
  ]) {
    expect(Object.keys(body)).toEqual(expect.not.arrayContaining(own));
    expect(body.capabilities).toEqual({ streaming: true, pushNotifications: false, extendedAgentCard: true });
    // what the official types do not know is dropped by them
    expect(AgentCard.toJSON(AgentCard.fromJSON(body))).toEqual(body);
  }
});

test('a signed card is accepted by the official verifier with the published key, and a changed one is not', async () => {
  const { body } = await service.get(at('agents', 'clerk', '/partners/a2a'), v1);
  const { body: set, headers } = await service.get('/partners/a2a/.well-known/jwks.json');
  expect(headers.get('cache-control')).toContain('public');
  expect(set.keys).toEqual([expect.not.objectContaining({ d: expect.anything() })]);
  // the verifier writes what it does not accept there
  const quiet = vi.spyOn(console, 'debug').mockReturnValue();
  onTestFinished(() => quiet.mockRestore());
  const asked: unknown[] = [];
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    asked.push([kid, jku]);
    return (await importJWK(set.keys[0])) as Key;
  });
  await verify(AgentCard.fromJSON(body));
  const published = 'https://public.example/api/partners/a2a/.well-known/jwks.json';
  expect(asked).toEqual([[set.keys[0].kid, published]]);
  await expect(verify(AgentCard.fromJSON({ ...body, name: 'Mallory' }))).rejects.toThrow(
    'No valid signatures',
  );
  expect((await service.get(at('agents', 'clerk'), v1)).body.signatures).toBeUndefined();
  expect(() => a2a({ signingKey })).toThrow('signingKey needs publicUrl');
  const unusable = a2a({ signingKey: 'nothing', publicUrl: 'https://public.example' });
  await expect(startService({ ...components, interfaces: [unusable] })).rejects.toThrow(
    'signingKey is not usable: it cannot be read',
  );
});

test('a client that has the card receives 304', async () => {
  const first = await service.get(at('agents', 'clerk'), v1);
  const tag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('private, max-age=60');
  for (const known of [tag, `"other", ${tag}`, '*']) {
    const again = await service.get(at('agents', 'clerk'), { ...v1, 'if-none-match': known });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
  }
  const legacy = await service.get(at('agents', 'clerk'), { 'if-none-match': tag });
  expect([legacy.status, legacy.headers.get('etag') === tag]).toEqual([200, false]);
});

test('addresses are those that the client uses, behind proxies and prefixes too', async () => {
  const urlOf = async (path: string, headers = {}) =>
    (await service.get(path, { ...v1, ...headers })).body.supportedInterfaces[0].url;
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'agents.example, inner.example',
    'x-forwarded-prefix': '/api',
  };
  expect(await urlOf(at('agents', 'clerk'), forwarded)).toBe('https://agents.example/api/a2a/agents/clerk');
  expect(
    await urlOf(at('agents', 'clerk'), { 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'a b"c' }),
  ).toBe(`${service.url}/a2a/agents/clerk`);
  expect(await urlOf(at('agents', 'clerk', '/partners/a2a'), forwarded)).toBe(
    'https://public.example/api/partners/a2a/agents/clerk',
  );
  // who is no proxy of ours says nothing about where the service is
  const admin = await gatehouse.admin();
  const { body } = await gatehouse.service.get(at('agents', 'clerk'), { ...admin.headers, ...forwarded });
  expect(body.url).toBe(`${gatehouse.service.url}/a2a/agents/clerk/v1/message:stream`);
  const mounted = (await service.app.fetchHandler({ basePath: '/deep' }))(
    new Request(`https://yard.example/deep${at('agents', 'clerk')}`, { headers: v1 }),
  );
  expect((await json(await mounted)).supportedInterfaces[0].url).toBe(
    'https://yard.example/deep/a2a/agents/clerk',
  );
});

test('the default component has its card at the root, where official clients look', async () => {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
  });
  const client = await factory.createFromUrl(service.url);
  const card = await client.getAgentCard();
  expect(card).toMatchObject({
    name: 'Clerk',
    supportedInterfaces: [{ url: `${service.url}/a2a/agents/clerk` }, {}, {}],
  });
  // the official client takes the extended card where there is one
  expect(card.skills.map(({ id }) => id)).toEqual(['clerk', 'tool:look']);
});

test('the extended card has tools, members and steps, over each binding', async () => {
  const rpc = async (method: string, path: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
    const headers = { 'content-type': 'application/json' };
    return (await json(await fetch(service.url + path, { method: 'POST', body, headers }))).result;
  };
  const skills = (card: { skills: { id: string }[] }) => card.skills.map(({ id }) => id);
  expect(skills(await rpc('GetExtendedAgentCard', '/a2a/teams/desk'))).toEqual(['desk', 'member:clerk']);
  const legacy = await rpc('agent/getAuthenticatedExtendedCard', '/a2a/workflows/letters');
  expect([skills(legacy), legacy.protocolVersion]).toEqual([['letters', 'step:draft'], '0.3.0']);
  const body = await json(await fetch(`${service.url}/partners/a2a/agents/clerk/extendedAgentCard`));
  expect([skills(body), body.signatures.length]).toEqual([['clerk', 'tool:look'], 1]);
  const card = await json(await fetch(`${service.url}/a2a/agents/clerk/v1/card`));
  expect(card.supportsAuthenticatedExtendedCard).toBe(true);
});

test('a card needs the scope to read its component, and says how to get in', async () => {
  const { service: guarded } = gatehouse;
  const paths = [
    at('agents', 'clerk'),
    '/.well-known/agent-card.json',
    '/a2a/agents/clerk/extendedAgentCard',
  ];
  const [reader, other, runner] = [
    await gatehouse.person('ada', ['agents:clerk:read']),
    await gatehouse.person('bob', ['agents:another:read', 'teams:read']),
    await gatehouse.person('eve', ['agents:clerk:run']),
  ];
  const statusOf = async (path: string, headers = {}) =>
    (await fetch(guarded.url + path, { headers })).status;
  for (const path of paths) {
    expect(await statusOf(path)).toBe(401);
    expect(await statusOf(path, other.headers)).toBe(403);
    expect(await statusOf(path, runner.headers)).toBe(403);
    expect(await statusOf(path, reader.headers)).toBe(200);
  }
  const { body } = await reader.get(at('agents', 'clerk'));
  expect([body.securitySchemes.bearer.scheme, body.security]).toEqual(['bearer', [{ bearer: [] }]]);
  const pure = await guarded.get(at('agents', 'clerk'), { ...v1, ...reader.headers });
  expect(pure.body.securitySchemes.bearer.httpAuthSecurityScheme.scheme).toBe('Bearer');
  expect((await reader.get(at('agents', 'nobody'))).status).toBe(403);
  expect((await (await gatehouse.admin()).get(at('agents', 'nobody'))).body.detail).toBe('Agent not found');
  expect((await guarded.get('/a2a/.well-known/jwks.json')).body).toEqual({ keys: [] });
});

test('what the interface does not name has no card, and public cards need no token', async () => {
  expect((await service.get(at('teams', 'desk', '/partners/a2a'))).body.detail).toBe('Team not found');
  const open = await Gatehouse.open({
    ...components,
    interfaces: [a2a({ publicCards: true, defaultComponent: { team: 'desk' } })],
  });
  const { body, headers } = await open.service.get('/.well-known/agent-card.json');
  expect([body.name, headers.get('cache-control')]).toEqual(['Desk', 'public, max-age=60']);
  expect((await open.service.get(at('agents', 'clerk'))).status).toBe(200);
  expect((await fetch(`${open.service.url}/a2a/agents/clerk/extendedAgentCard`)).status).toBe(401);
});

test('two cards at the root are refused at the start', async () => {
  const both = [clerk, desk].map((one, at) =>
    a2a({ prefix: `/a2a${at}`, defaultComponent: one === desk ? { team: desk } : { agent: clerk } }),
  );
  await expect(TestService.start({ ...components, interfaces: both })).rejects.toThrow(
    'The interfaces at /a2a0 and /a2a1 both have defaultComponent, and there is one /.well-known/agent-card.json.',
  );
});

test('components that the options name and that do not exist are warned of at the start', async () => {
  const warn = vi.fn();
  await startService({
    ...components,
    log: { ...silentLog, warn },
    interfaces: [
      a2a({ agents: [clerk, 'clerc'], workflows: ['leters'], defaultComponent: { agent: 'clerc' } }),
      aiSdk({ agent: 'clerc' }),
    ],
  });
  const said = warn.mock.calls
    .map(([, text]) => text)
    .filter((text) => /^(a2a|aiSdk)\(\)/.test(String(text)));
  expect(said).toEqual([
    "a2a() names the agent 'clerc', which does not exist. Clients find it when it is stored.",
    "a2a() names the workflow 'leters', which does not exist. Clients find it when it is stored.",
    "aiSdk() names the agent 'clerc', which does not exist. Clients find it when it is stored.",
  ]);
});
