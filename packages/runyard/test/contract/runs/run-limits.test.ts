import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { expectFailure, runWays, seeRun } from '../../support/clients/run-ways.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { TestService } from '../../support/service.js';

const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen' });
const never = () => new Promise<never>(() => {});
const model = scriptedModel(() => ({ toolCalls: [{ name: 'look' }] }));
const slow = scriptedModel(() => ({ chunks: ['Once ', 'upon ', never()] }));

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [
      agent({ id: 'stubborn', model, tools: [look], limits: { turns: 3 } }),
      agent({ id: 'unbounded', model, tools: [look], limits: { toolCalls: null } }),
      agent({ id: 'slow', model: slow, limits: { timeMs: 50 } }),
    ],
    teams: [team({ id: 'crew', model, tools: [look], members: [agent({ id: 'm', model })] })],
    workflows: [workflow({ id: 'flow', steps: [() => ''], limits: { steps: 9, timeMs: 1000 } })],
    maxRunToolCalls: 5,
    websocket: true,
  });
});
afterAll(() => service.stop());

test.each(runWays)('a run that met a limit says which, %s', async (way) => {
  const seen = await seeRun(service, way, 'stubborn', { message: 'go' });
  expectFailure(seen, {
    content:
      "The run of agent 'stubborn' was stopped: it may call its model 3 times, which it did (limits.turns of agent 'stubborn'). Raise limits.turns of agent 'stubborn', then continue the run.",
    error_type: 'limit_exceeded',
    additional_data: {
      limit: 'turns',
      bound: 3,
      used: 3,
      source: 'own',
      component: 'agent',
      component_id: 'stubborn',
    },
  });
  expect(seen.stored.tools).toHaveLength(3);
  expect(seen.stored.metrics.total_tokens).toBe(45);
});

test.each(runWays)('a setting of the service is a ceiling, %s', async (way) => {
  const { stored } = await seeRun(service, way, 'unbounded', { message: 'go' });
  expect(stored).toMatchObject({
    status: 'error',
    error_type: 'limit_exceeded',
    additional_data: { limit: 'toolCalls', bound: 5, used: 6, source: 'service' },
  });
});

test('time runs out in the middle of a stream: the content so far is kept', async () => {
  const { stored } = await seeRun(service, 'streamed', 'slow', { message: 'go' });
  expect(stored).toMatchObject({ error_type: 'limit_exceeded', additional_data: { limit: 'timeMs' } });
  expect(stored.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Once upon ' });
});

test('a description shows the limits that a component sets', async () => {
  expect((await service.get('/agents/stubborn')).body).toMatchObject({ limits: { turns: 3 } });
  expect((await service.get('/agents/unbounded')).body).toMatchObject({ limits: { tool_calls: null } });
  expect((await service.get('/teams/crew')).body).not.toHaveProperty('limits');
  expect((await service.get('/workflows/flow')).body).toMatchObject({ limits: { steps: 9, time_ms: 1000 } });
});

test('the run of a team ends in the same way', async () => {
  const { body } = await service.submit('/teams/crew/runs', { message: 'go', stream: false });
  expect(body).toMatchObject({
    status: 'error',
    error_type: 'limit_exceeded',
    additional_data: { limit: 'toolCalls', source: 'service', component_id: 'crew' },
  });
});

test('a client of the WebSocket receives the same', async () => {
  const client = await WsClient.connect(service.url, '/agents/ws');
  client.send({ action: 'start-agent', agent_id: 'stubborn', message: 'go' });
  await client.until(() => client.names.includes('RunError'));
  expect(client.events.at(-1)).toMatchObject({
    event: 'RunError',
    error_type: 'limit_exceeded',
    additional_data: { limit: 'turns', bound: 3, used: 3 },
  });
});
