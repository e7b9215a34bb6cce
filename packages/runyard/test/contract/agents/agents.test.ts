import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const model = scriptedModel(['hi'], { id: 'm', provider: 'P' });

test('shows a plain agent without its defaults', async () => {
  const service = await startService({
    agents: [
      agent({
        id: 'plain',
        name: 'Plain',
        model,
        addHistoryToContext: false,
        numHistoryRuns: 3,
        markdown: false,
      }),
    ],
  });
  const { body } = await service.get('/agents/plain');
  expect(body).toEqual({
    id: 'plain',
    name: 'Plain',
    db_id: 'default',
    is_factory: false,
    model: { name: 'Scripted', model: 'm', provider: 'P' },
    sessions: { session_table: expect.any(String) },
    is_component: false,
  });
});

test('shows the settings of an agent', async () => {
  const add = tool({
    name: 'add',
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });
  const full = agent({
    name: 'Full House',
    model,
    description: 'Everything set',
    role: 'clerk',
    instructions: ['Be brief', 'Be kind'],
    expectedOutput: 'one line',
    additionalContext: 'it is late',
    markdown: true,
    tools: [add],
    toolCallLimit: 4,
    addHistoryToContext: true,
    numHistoryRuns: 7,
    metadata: { owner: 'ops' },
  });
  const service = await startService({ agents: [full] });
  const { body } = await service.get('/agents/full-house');
  expect(body).toMatchObject({
    id: 'full-house',
    name: 'Full House',
    description: 'Everything set',
    role: 'clerk',
    sessions: { add_history_to_context: true, num_history_runs: 7 },
    system_message: {
      description: 'Everything set',
      instructions: ['Be brief', 'Be kind'],
      expected_output: 'one line',
      additional_context: 'it is late',
      markdown: true,
    },
    metadata: { owner: 'ops' },
  });
  expect(body.tools.tool_call_limit).toBe(4);
  expect(body.tools.tools).toEqual([
    {
      name: 'add',
      description: 'Adds',
      parameters: expect.objectContaining({ type: 'object', required: ['a', 'b'] }),
    },
  ]);
});

test('lists the agents in the order of their registration, each as it is shown alone', async () => {
  const agents = ['zeta', 'alpha', 'mid'].map((id) => agent({ id, model }));
  const service = await startService({ agents });
  const { body } = await service.get('/agents');
  expect(body.map(({ id }: { id: string }) => id)).toEqual(['zeta', 'alpha', 'mid']);
  for (const shown of body) expect((await service.get(`/agents/${shown.id}`)).body).toEqual(shown);
});

test('knows no other agent', async () => {
  const service = await startService({ agents: [] });
  expect((await service.get('/agents')).body).toEqual([]);
  const { status, body } = await service.get('/agents/nobody');
  expect(status).toBe(404);
  expect(body).toMatchObject({ detail: 'Agent not found', error_code: 'agent_not_found' });
  for (const answer of [
    await service.run('nobody', { message: 'hi' }),
    await service.get('/agents/nobody/runs'),
    await service.get('/agents/nobody/runs/some'),
  ]) {
    expect(answer.status).toBe(404);
    expect(answer.body.detail).toBe('Agent not found');
  }
});
