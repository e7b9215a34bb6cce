import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { agui } from '../../../src/interfaces.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import type { Body } from '../../support/service.js';

let gatehouse: Gatehouse;
beforeAll(async () => {
  const clerk = agent({ id: 'clerk', model: 'offline' });
  gatehouse = await Gatehouse.shared({
    agents: [clerk, agent({ id: 'hidden', model: 'offline' })],
    interfaces: [agui({ agents: ['clerk'] }), agui({ agent: clerk, prefix: '/one' })],
  });
});
afterAll(() => gatehouse.service.stop());

const requestOf = (threadId = randomUUID(), more: Body = {}) => ({
  threadId,
  runId: randomUUID(),
  messages: [{ id: 'u', role: 'user', content: 'Hello' }],
  ...{ tools: [], context: [], forwardedProps: null },
  ...more,
});

async function statusOf(path: string, subject: string, ...scopes: string[]): Promise<number> {
  const { headers } = await gatehouse.person(subject, scopes);
  return (await post(path, requestOf(), headers)).status;
}

function post(path: string, body: Body, headers: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(gatehouse.service.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test.each(['/agui/agents/clerk', '/one/agui'])('%s needs the scopes of the run API', async (path) => {
  expect((await post(path, requestOf(), {})).status).toBe(401);
  expect(await statusOf(path, 'ada', 'sessions:read')).toBe(403);
  expect(await statusOf(path, 'ada', 'agents:other:run')).toBe(403);
  expect(await statusOf(path, 'ada', 'agents:clerk:run')).toBe(200);
  expect(await statusOf(path, 'ada', 'agents:run')).toBe(200);
  expect(await statusOf(path, 'ada', 'agents:read')).toBe(403);
  expect(await statusOf(`${path}/connect`, 'ada', 'agents:read')).toBe(200);
  expect(await statusOf(`${path}/cancel`, 'ada', 'agents:read')).toBe(403);
});

test('a component that the options do not name does not exist here', async () => {
  expect(await statusOf('/agui/agents/hidden', 'ada', 'agents:run')).toBe(404);
});

test('a run belongs to the subject of the token, and the thread of another user is refused', async () => {
  const ada = await gatehouse.person('ada');
  const eve = await gatehouse.person('eve');
  const request = requestOf(undefined, { forwardedProps: { user_id: 'eve' } });
  const first = await post('/agui/agents/clerk', request, ada.headers);
  expect(await first.text()).toContain('"type":"RUN_FINISHED"');
  expect((await ada.get(`/agents/clerk/runs/${request.runId}`)).body.user_id).toBe('ada');
  const foreign = await (await post('/agui/agents/clerk', requestOf(request.threadId), eve.headers)).text();
  expect(foreign).toContain('"type":"RUN_ERROR"');
  const connected = await (await post('/agui/agents/clerk/connect', request, eve.headers)).text();
  expect(connected).not.toContain('Hello');
});
