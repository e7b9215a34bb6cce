import { createHash, randomUUID } from 'node:crypto';
import { Role, type Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { legacyPushNotificationToV1StreamResponse } from '@a2a-js/sdk/compat/v0_3';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { a2a } from '../../../src/interfaces.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { type Received, webhook } from '../../support/clients/webhook.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const book = new ScriptBook();
const clerk = agent({ id: 'clerk', name: 'Clerk', model: book.model });

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [clerk],
    interfaces: [a2a({ pushNotifications: { allowedHosts: ['127.0.0.1'], retryMs: 1, maxAttempts: 2 } })],
  });
});
afterAll(() => service.stop());

const legacy = { legacyCompat: { enabled: true } };
const modes = [
  { name: '1.0 over JSON-RPC', binding: 'JSONRPC', version: '1.0' },
  { name: '1.0 over HTTP+JSON', binding: 'HTTP+JSON', version: '1.0' },
  { name: '0.3 over JSON-RPC', binding: 'JSONRPC', version: '0.3' },
  { name: '0.3 over HTTP+JSON', binding: 'HTTP+JSON', version: '0.3' },
] as const;

function clientOf(mode: Pick<(typeof modes)[number], 'binding' | 'version'>): Promise<Client> {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(legacy), new RestTransportFactory(legacy)],
  });
  const url = `${service.url}/a2a/agents/clerk`;
  return factory.createFromAgentCard({
    name: 'Clerk',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: mode.binding, protocolVersion: mode.version, tenant: '' }],
    capabilities: { streaming: true, pushNotifications: true, extensions: [] },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    provider: undefined,
  });
}

const configOf = (url: string, more: Body = {}): Body => ({
  tenant: '',
  taskId: '',
  id: '',
  url,
  token: '',
  authentication: undefined,
  ...more,
});

async function send(client: Client, push?: Body): Promise<Task> {
  const part = {
    content: { $case: 'text', value: 'hello' },
    metadata: undefined,
    filename: '',
    mediaType: '',
  };
  const sent = await client.sendMessage({
    tenant: '',
    message: {
      messageId: randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: push,
      historyLength: undefined,
      returnImmediately: false,
    },
    metadata: undefined,
  } as Body);
  return sent as Task;
}

/** What a receiver does who trusts nobody: the keys are those that the service publishes. */
async function verified({ headers, text }: Received, audience: string) {
  const { body: keys } = await service.get('/a2a/.well-known/jwks.json');
  const { payload } = await jwtVerify(String(headers['x-runyard-signature']), createLocalJWKSet(keys), {
    issuer: `${service.url}/a2a`,
    audience,
  });
  expect(payload.request_body_sha256).toBe(createHash('sha256').update(text).digest('hex'));
  return payload;
}

describe.each(modes)('$name', (mode) => {
  test('a client registers, reads, lists and deletes configs, whose secrets it does not get back', async () => {
    const client = await clientOf(mode);
    const { id: taskId } = await send(client);
    const { url } = await webhook();
    const authentication = { scheme: 'Basic', credentials: 'hidden' };
    const given = configOf(url, { taskId, id: 'c1', token: 'hidden', authentication });
    const created = await client.createTaskPushNotificationConfig(given as never);
    expect(created).toMatchObject({ taskId, id: 'c1', url, token: '', authentication: { scheme: 'Basic' } });
    const other = await client.createTaskPushNotificationConfig(configOf(url, { taskId }) as never);
    expect(other.id).not.toBe('');
    const params = { tenant: '', taskId, id: 'c1' };
    expect(await client.getTaskPushNotificationConfig(params)).toEqual(created);
    const listed = await client.listTaskPushNotificationConfig({
      tenant: '',
      taskId,
      pageSize: 0,
      pageToken: '',
    });
    expect(listed.configs.map(({ id }) => id).sort()).toEqual(['c1', other.id].sort());
    expect(JSON.stringify([created, listed])).not.toContain('hidden');
    await client.deleteTaskPushNotificationConfig(params);
    await client.deleteTaskPushNotificationConfig(params);
    await expect(client.getTaskPushNotificationConfig(params)).rejects.toThrow();
    await expect(
      client.createTaskPushNotificationConfig(configOf(url, { taskId: 'unknown' }) as never),
    ).rejects.toThrow(/Task not found/i);
  });

  test('a config that comes with a message is notified of the end, in the words of its version', async () => {
    const hook = await webhook();
    const client = await clientOf(mode);
    const task = await send(client, configOf(hook.url, { token: 'mine' }));
    await hook.until(1);
    const [received] = hook.received as [Received];
    const { headers, body } = received;
    expect(headers['x-a2a-notification-token']).toBe('mine');
    const isV1 = mode.version === '1.0';
    expect(headers['content-type']).toBe(isV1 ? 'application/a2a+json' : 'application/json');
    if (isV1) expect(body.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    else if (mode.binding === 'JSONRPC')
      expect(legacyPushNotificationToV1StreamResponse(body).payload).toMatchObject({
        value: { id: task.id },
      });
    else expect(body).toMatchObject({ id: task.id, contextId: task.contextId });
    const claims = await verified(received, new URL(hook.url).origin);
    expect(claims.taskId).toBe(task.id);
    expect(headers.authorization).toBe(`Bearer ${headers['x-runyard-signature']}`);
  });
});

test('a receiver gets the credentials that it wants, and the client sees why nothing arrived', async () => {
  const hook = await webhook();
  const client = await clientOf(modes[0]);
  const authentication = { scheme: 'Basic', credentials: 'cGFzcw==' };
  hook.answers.push(500, 500);
  const { id: taskId } = await send(client, configOf(`${hook.url}?key=hidden`, { id: 'c', authentication }));
  const path = `/a2a/agents/clerk/tasks/${taskId}/pushNotificationDeliveries`;
  const failed = await until('the notification is given up', async () => {
    const { body } = await service.get(path);
    return body.deliveries[0].state === 'failed' && body.deliveries;
  });
  const error = 'The receiver answered with status 500.';
  expect(failed).toEqual([
    {
      config_id: 'c',
      state: 'failed',
      attempts: 2,
      error,
      next_attempt_at: null,
      updated_at: expect.any(String),
    },
  ]);
  const [first, second] = hook.received as [Received, Received];
  expect(first.headers.authorization).toBe('Basic cGFzcw==');
  // each attempt is the same notification
  const ids = await Promise.all([first, second].map((one) => verified(one, new URL(hook.url).origin)));
  expect(ids[0]?.jti).toBe(ids[1]?.jti);
  expect(JSON.stringify(service.logged)).not.toMatch(/hidden|cGFzcw==/);
});

test('a task that is too large for a notification is reported without its contents', async () => {
  const hook = await webhook();
  const run = await service.run('clerk', { message: book.write('Say much', 'x'.repeat(1_000_001)) });
  const client = await clientOf(modes[0]);
  await client.createTaskPushNotificationConfig(configOf(hook.url, { taskId: run.body.run_id }) as never);
  await hook.until(1);
  const { id, status, artifacts } = hook.received[0]?.body.task ?? {};
  expect([id, status.state, artifacts]).toEqual([run.body.run_id, 'TASK_STATE_COMPLETED', undefined]);
});

test('a wrong option is named', () => {
  expect(() => a2a({ pushNotifications: { maxAttempt: 1 } as object })).toThrow('Did you mean maxAttempts?');
  expect(() => a2a({ pushNotifications: { timeoutMs: 0 } })).toThrow('pushNotifications.timeoutMs is 0');
});

test('what cannot be notified is refused before the run begins', async () => {
  const client = await clientOf(modes[0]);
  const before = (await service.get('/agents/clerk/runs')).body.length;
  await expect(send(client, configOf('http://10.0.0.1/hook'))).rejects.toThrow('not a public address');
  await expect(send(client, configOf(''))).rejects.toThrow('url is required');
  expect((await service.get('/agents/clerk/runs')).body).toHaveLength(before);
});

test('without the option nothing is advertised, registered or notified', async () => {
  const plain = await startService({ agents: [clerk], interfaces: [a2a()] });
  const card = await plain.get('/a2a/agents/clerk/.well-known/agent-card.json');
  expect(card.body.capabilities.pushNotifications).toBe(false);
  const ask = async (method: string, params: Body) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${plain.url}/a2a/agents/clerk`, { method: 'POST', body, headers });
    const { error }: Body = await answer.json();
    return error.code;
  };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const taskPushNotificationConfig = { url: 'https://example.com' };
  expect(await ask('SendMessage', { message, configuration: { taskPushNotificationConfig } })).toBe(-32003);
  expect(await ask('ListTaskPushNotificationConfigs', { taskId: 'x' })).toBe(-32003);
  expect((await plain.get('/a2a/.well-known/jwks.json')).body).toEqual({ keys: [] });
  const on = await service.get('/a2a/agents/clerk/.well-known/agent-card.json');
  expect(on.body.capabilities.pushNotifications).toBe(true);
});

test('configs of another user do not exist, and reading them does not allow changing them', async () => {
  const gatehouse = await Gatehouse.open({
    agents: [clerk],
    interfaces: [a2a({ pushNotifications: true })],
  });
  const [ada, bob] = [await gatehouse.person('ada'), await gatehouse.person('bob')];
  const reader = await gatehouse.person('ada', ['agents:read']);
  const run = await ada.run('clerk', { message: 'hello' });
  const at = `${gatehouse.service.url}/a2a/agents/clerk/tasks/${run.body.run_id}/pushNotificationConfigs`;
  const call = async (
    holder: { headers: Record<string, string> },
    method: string,
    path = '',
    body?: Body,
  ) => {
    const headers = { ...holder.headers, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(at + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: await answer.json() };
  };
  const config = { id: 'c', url: 'https://example.com/hook', token: 'hidden' };
  expect((await call(ada, 'POST', '', config)).status).toBe(200);
  for (const [method, path, body] of [
    ['POST', '', config],
    ['GET', ''],
    ['GET', '/c'],
    ['DELETE', '/c'],
  ] as const)
    expect((await call(bob, method, path, body)).status).toBe(404);
  expect((await call(reader, 'GET', '/c')).body).toMatchObject({ id: 'c', url: config.url });
  expect((await call(reader, 'POST', '', config)).status).toBe(403);
  expect((await call(reader, 'DELETE', '/c')).status).toBe(403);
  const deliveries = `/a2a/agents/clerk/tasks/${run.body.run_id}/pushNotificationDeliveries`;
  expect((await bob.get(deliveries)).status).toBe(404);
  expect((await ada.get(deliveries)).body.deliveries).toMatchObject([{ config_id: 'c' }]);
  expect((await call(ada, 'DELETE', '/c')).status).toBe(200);
  expect((await call(ada, 'GET')).body).toEqual({ configs: [] });
});
