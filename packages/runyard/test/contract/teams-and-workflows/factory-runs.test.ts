import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  agentFactory,
  liveEval,
  type Scorer,
  schedule,
  step,
  team,
  teamFactory,
  tool,
  workflow,
  workflowFactory,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { type Body, startService, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

/* What starts, continues and grades runs of factories beside a request for a run. */

const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ cents: z.number() }),
  requiresConfirmation: true,
  execute: ({ cents }) => `paid ${cents}`,
});

const desk = teamFactory({
  id: 'desk',
  inputSchema: z.object({ topic: z.string(), cents: z.number().default(0) }),
  build: ({ input: { topic, cents } }) =>
    team({
      id: 'inside',
      model: scriptedModel(({ messages }) => {
        const last = messages.at(-1);
        if (last?.role === 'tool') return `${topic}: ${String(last.content)}`;
        return cents > 0
          ? { toolCalls: [{ name: 'pay', id: 'p', arguments: { cents } }] }
          : `All on ${topic}`;
      }),
      tools: [pay],
      members: [agent({ id: 'clerk', model: 'offline' })],
    }),
});

const pipeline = workflowFactory({
  id: 'pipeline',
  inputSchema: z.object({ words: z.array(z.string()).min(1) }),
  build: ({ input: { words } }) =>
    workflow({
      id: 'inside',
      steps: words.map((word) =>
        step({ name: word, run: ({ previousStepContent }) => `${previousStepContent ?? ''}${word}` }),
      ),
    }),
});

const tutor = agentFactory({ id: 'tutor', build: () => agent({ id: 'x', model: 'offline' }) });

const graded: string[] = [];
const long: Scorer = {
  name: 'long',
  score: ({ run }) => {
    graded.push(run.output);
    return { score: run.output.length, passed: run.output.length > 3 };
  },
};

let service: TestService;

beforeAll(async () => {
  const cron = '0 0 1 1 *';
  service = await TestService.start({
    agents: [tutor],
    teams: [desk],
    workflows: [pipeline],
    scorers: [long],
    liveEvals: [
      liveEval({ name: 'team', team: desk, sample: 1, scorers: [long] }),
      liveEval({ name: 'flow', workflow: 'pipeline', sample: 1, scorers: [long] }),
    ],
    schedules: [
      schedule({
        name: 'team',
        cron,
        team: desk,
        message: 'Go',
        payload: { factory_input: { topic: 'tides' } },
      }),
      schedule({
        name: 'workflow',
        cron,
        workflow: pipeline,
        message: 'Go',
        payload: { factory_input: { words: ['s', 't'] } },
      }),
      schedule({ name: 'misfit', cron, workflow: 'pipeline', message: 'Go' }),
      schedule({
        name: 'eval',
        cron,
        evaluation: {
          workflow_id: 'pipeline',
          eval_type: 'custom',
          scorers: ['long'],
          input: 'Go',
          factory_input: { words: ['by', 'schedule'] },
        },
      }),
    ],
    mcp: true,
  });
});
afterAll(() => service.stop());

const send = (path: string, body: object = {}) =>
  service.call('POST', path, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function triggered(name: string): Promise<Body> {
  const { data } = (await service.get('/schedules')).body;
  const { id } = data.find((one: Body) => one.name === name);
  return (await send(`/schedules/${id}/trigger`)).body;
}

test('a schedule gives a factory its input', async () => {
  const ofTeam = await triggered('team');
  expect(ofTeam).toMatchObject({ status: 'success', output: { content: 'All on tides' } });
  expect((await service.get(`/teams/desk/runs/${ofTeam.run_id}`)).body).toMatchObject({
    team_id: 'desk',
    status: 'completed',
  });
  const ofWorkflow = await triggered('workflow');
  expect(ofWorkflow).toMatchObject({ status: 'success', output: { content: 'st' } });
  const refused = await triggered('misfit');
  expect([refused.status, refused.status_code]).toEqual(['failed', 400]);
  expect(refused.error).toContain('factory_input does not fit');
});

test('an eval gives each run of a factory its input, and a team another model', async () => {
  const custom = { eval_type: 'custom', scorers: ['long'], input: 'Go' };
  const outputs = async (body: object) => {
    const { status, body: shown, text } = await send('/eval-runs', { ...custom, ...body });
    expect([status, shown.status], text).toEqual([200, 'completed']);
    const { data } = (await service.get(`/eval-runs/${shown.id}/results`)).body;
    return data.map(({ status: ended, output }: Body) => [ended, output]);
  };
  const topic = { factory_input: { topic: 'moons' } };
  expect(await outputs({ team_id: 'desk', ...topic, num_iterations: 2 })).toEqual([
    ['completed', 'All on moons'],
    ['completed', 'All on moons'],
  ]);
  expect(await outputs({ workflow_id: 'pipeline', factory_input: { words: ['e', 'v'] } })).toEqual([
    ['completed', 'ev'],
  ]);
  const [[ended, output]] = await outputs({
    team_id: 'desk',
    ...topic,
    model_id: 'offline',
    model_provider: 'Runyard',
  });
  expect(ended).toBe('completed');
  expect(output).not.toContain('moons');
  const { output: scheduled } = await triggered('eval');
  expect(scheduled.content).toMatchObject({ status: 'completed', progress: { done: 1, failed: 0 } });
  expect(graded).toContain('byschedule');
});

test('live evals grade the runs of factories', async () => {
  const form = { message: 'Go', stream: false };
  await service.submit('/teams/desk/runs', { ...form, factory_input: { topic: 'live stars' } });
  await service.submit('/workflows/pipeline/runs', { ...form, factory_input: { words: ['li', 've'] } });
  await until('both runs are graded', () => graded.includes('All on live stars') && graded.includes('live'));
});

test('a paused team is built again, in code and by a caller of the service', async () => {
  const factoryInput = { topic: 'bills', cents: 7 };
  const paused = await desk.run('Pay', { factoryInput });
  expect(paused.status).toBe('paused');
  const done = await desk.continue(paused.runId, { answers: { p: { confirmed: true } } });
  expect(done).toMatchObject({ status: 'completed', content: 'bills: paid 7' });
  const run = await service.app.runs.start({ team_id: 'desk', message: 'Pay', factory_input: factoryInput });
  const waiting = await run.result();
  expect(waiting).toMatchObject({ status: 'paused' });
  const { body } = await service.submit(`/teams/desk/runs/${run.runId}/continue`, {
    stream: false,
    tools: [{ tool_call_id: 'p', confirmed: true }],
  });
  expect(body).toMatchObject({ status: 'completed', content: 'bills: paid 7' });
});

test('the tools of MCP say what a factory takes, and how far its workflow is', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.url)));
  const call = async (name: string, given: object = {}, onprogress?: (one: Body) => void) =>
    (await client.callTool({ name, arguments: { ...given } }, onprogress && { onprogress })) as Body;
  const { structuredContent: config } = await call('get_agentos_config');
  expect(config.agents).toMatchObject([{ id: 'tutor', is_factory: true }]);
  expect(config.teams).toMatchObject([
    { id: 'desk', is_factory: true, factory_input_schema: { required: ['topic'] } },
  ]);
  expect(config.workflows).toMatchObject([
    { id: 'pipeline', is_factory: true, factory_input_schema: { required: ['words'] } },
  ]);
  const reported: string[] = [];
  const answer = await call(
    'run_workflow',
    { workflow_id: 'pipeline', message: 'Go', factory_input: { words: ['m', 'c'] } },
    ({ message }) => reported.push(message),
  );
  expect(answer.content[0].text).toBe('mc');
  expect(reported).toEqual([
    'Workflow started',
    'Step started: m',
    'Step completed: m',
    'Step started: c',
    'Step completed: c',
  ]);
  const misfit = await call('run_team', { team_id: 'desk', message: 'Go' });
  expect([misfit.isError, misfit.content[0].text]).toEqual([
    true,
    expect.stringContaining('factory_input does not fit: topic'),
  ]);
});

test('an event reaches a workflow that waited over a restart, and is built again from its input', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-factory-runs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = () => ({
    database: `sqlite://${folder}/runyard.db`,
    autoMigrate: true,
    workflows: [
      workflowFactory({
        id: 'order',
        build: ({ input, userId, state }) =>
          workflow({
            id: 'x',
            steps: [
              async ({ waitForEvent }) =>
                `${String(await waitForEvent('paid'))} for ${String(input.what)} by ${userId} in ${String(state.shop)}`,
            ],
          }),
      }),
    ],
  });
  const first = await TestService.start(options());
  const { body } = await first.submit('/workflows/order/runs', {
    ...{ message: 'Go', stream: false, user_id: 'ada', session_state: { shop: 'Rome' } },
    factory_input: { what: 'a chair' },
  });
  expect(body.status).toBe('paused');
  await first.stop();
  const second = await startService(options());
  const path = `/workflows/order/runs/${body.run_id}`;
  const sent = await second.call('POST', `${path}/events`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'paid', data: '20 euros' }),
  });
  expect(sent.status).toBe(202);
  const ended = await until('the run ended', async () => {
    const run = (await second.get(path)).body;
    return run.status === 'completed' && run;
  });
  expect(ended.content).toBe('20 euros for a chair by ada in Rome');
});
