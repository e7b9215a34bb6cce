import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, ModelError, step, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin } from '../harness.js';
import { ran } from './workflow-runs.js';

test('the chat agent in front answers itself or lets the workflow run', async () => {
  const model = scriptedModel([
    { toolCalls: [{ name: 'run_workflow', arguments: { query: 'tea' } }] },
    'As I said: TEA.',
  ]);
  const lookUp = tool({
    name: 'unused',
    description: 'Not used',
    inputSchema: z.object({}),
    execute: () => '',
  });
  const flow = workflow({
    id: 'w',
    description: 'Writes in capitals.',
    agent: agent({ id: 'host', model, tools: [lookUp] }),
    steps: [({ input }) => String(input).toUpperCase()],
  });
  const first = await ran(flow, { sessionId: 's' });
  const { run, runs, results } = await first.look();
  expect(run).toMatchObject({ status: 'completed', result: { content: 'TEA' } });
  expect(runs).toEqual([]);
  expect(results).toMatchObject([{ content: 'TEA' }]);
  const names = await first.names();
  expect(names[0]).toBe('WorkflowAgentStarted');
  expect(names.slice(names.indexOf('WorkflowStarted'))).toEqual([
    'WorkflowStarted',
    'StepStarted',
    'StepOutput',
    'StepCompleted',
    'WorkflowCompleted',
    'WorkflowAgentCompleted',
  ]);
  const second = await (await begin(first.engine, flow, { sessionId: 's' })).ended;
  expect(second.run).toMatchObject({
    status: 'completed',
    result: { content: 'As I said: TEA.', metadata: { agent_direct_response: true } },
  });
  expect(model.requests[1]!.messages.at(-1)!.content).toContain('Output: TEA');
  const events = (await allEvents({ events: () => first.engine.events(second.run.runId, 0) })).map(
    ({ data }) => JSON.parse(data) as { event: string; workflow_agent?: boolean; metadata?: object },
  );
  expect(events.slice(-2)).toMatchObject([
    { event: 'WorkflowAgentCompleted', content: 'As I said: TEA.' },
    { event: 'WorkflowCompleted', metadata: { agent_direct_response: true } },
  ]);
  expect(events.map(({ event }) => event)).not.toContain('WorkflowStarted');
  const said = events.filter(({ event }) => event === 'RunContent');
  expect(said.length).toBeGreaterThan(0);
  for (const { workflow_agent } of said) expect(workflow_agent).toBe(true);
});

test('a workflow behind an agent can wait for a person, and the agent is not asked again', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'run_workflow', arguments: { query: 'tea' } }] }]);
  const flow = workflow({
    id: 'w',
    agent: agent({ id: 'host', model }),
    steps: [step({ name: 'sure', run: ({ input }) => input, review: { requiresConfirmation: true } })],
  });
  const run = await ran(flow);
  expect((await run.look()).run.status).toBe('paused');
  const { run: ended } = await run.answer({ confirmed: true });
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'tea' } });
  expect(model.requests).toHaveLength(1);
  const names = await run.names();
  for (const name of ['WorkflowAgentStarted', 'WorkflowStarted', 'RunStarted', 'WorkflowAgentCompleted'])
    expect([name, names.filter((other) => other === name).length]).toEqual([name, 1]);
});

test('an agent in front that fails is the failure of the run', async () => {
  const refused = new ModelError('gone', { provider: 'P', kind: 'refused' });
  const host = agent({ id: 'host', model: scriptedModel(() => ({ error: refused })) });
  const run = await ran(workflow({ id: 'w', agent: host, steps: [() => 'never'] }));
  expect((await run.look()).run).toMatchObject({ status: 'error' });
  expect((await run.names()).at(-1)).toBe('WorkflowError');
});
