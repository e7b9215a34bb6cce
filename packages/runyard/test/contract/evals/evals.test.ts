import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { type Body, TestService } from '../../support/service.js';

let service: TestService;

/** What the judge says next. */
const judgements: (object | string)[] = [];
const asked: string[] = [];

/** Answers to messages; to a judge's question with what the test has put down. */
const model = scriptedModel((request) => {
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (request.output?.name === 'judgement') {
    asked.push(said);
    const next = judgements.shift() ?? { reason: 'none', score: 1 };
    return typeof next === 'string' ? next : JSON.stringify(next);
  }
  if (said.includes('fail')) return { error: 'the provider is down' };
  const isFirst = request.messages.at(-1)?.role === 'user';
  if (said.includes('add') && isFirst) return { toolCalls: [{ name: 'add', arguments: { a: 2, b: 2 } }] };
  if (said.includes('pay') && isFirst) return { toolCalls: [{ name: 'pay', arguments: {} }] };
  return 'The answer is 4.';
});

const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});
const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, execute: () => 'paid' });

const assistant = agent({ id: 'assistant', name: 'Assistant', model, tools: [add, pay] });

beforeAll(async () => {
  service = await TestService.start({
    agents: [assistant],
    teams: [team({ id: 'desk', model, members: [assistant] })],
    workflows: [workflow({ id: 'chain', steps: [step({ name: 'ask', agent: assistant })] })],
    scorers: [
      {
        name: 'short',
        score: ({ run }) => ({
          score: run.output.length,
          passed: run.output.length < 20,
          reason: 'by length',
        }),
      },
    ],
  });
});
afterAll(() => service.stop());

const send = (method: string, path: string, body: unknown) =>
  service.call(method, path, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const accuracy = {
  agent_id: 'assistant',
  eval_type: 'accuracy',
  input: 'What is 2+2?',
  expected_output: '4',
};

async function evaluated(body: object): Promise<Body> {
  const { status, body: shown, text } = await send('POST', '/eval-runs', body);
  expect(status, text).toBe(200);
  // what is stored is what was answered
  expect((await service.get(`/eval-runs/${shown.id}`)).body).toEqual(shown);
  return shown;
}

test('accuracy: a judge scores each iteration, and the statistics are those of a sample', async () => {
  judgements.push({ reason: 'r3', score: 3 }, { reason: 'r8', score: 8 }, { reason: 'r10', score: 10 });
  const shown = await evaluated({
    ...accuracy,
    name: 'acc 3',
    num_iterations: 3,
    additional_context: 'Sums',
  });
  const result = { input: 'What is 2+2?', output: 'The answer is 4.', expected_output: '4' };
  expect(shown).toMatchObject({
    ...{ agent_id: 'assistant', team_id: null, workflow_id: null, name: 'acc 3', eval_type: 'accuracy' },
    ...{ evaluated_component_name: 'Assistant', model_id: model.id, model_provider: model.provider },
    ...{ status: 'completed', error: null, progress: { done: 3, total: 3, failed: 0 } },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    eval_data: {
      results: [3, 8, 10].map((score) => ({ ...result, score, reason: `r${score}` })),
      ...{ avg_score: 7, mean_score: 7, min_score: 3, max_score: 10, std_dev_score: 3.605551275463989 },
      errors: [],
    },
  });
  expect(shown.eval_input).toEqual({
    ...{ additional_guidelines: null, additional_context: 'Sums', num_iterations: 3 },
    ...{ expected_output: '4', input: 'What is 2+2?' },
  });
  const { body } = await service.get(`/eval-runs/${shown.id}/results`);
  expect(body.meta).toMatchObject({ page: 1, total_count: 3 });
  expect(body.data[1]).toMatchObject({ case_id: 'input', iteration: 2, status: 'completed', error: null });
  expect(body.data[1].scores.accuracy).toMatchObject({ score: 8, reason: 'r8' });
  const { session_id: sessionId, run_id: runId } = body.data[0];
  expect(sessionId).toBe(`eval_${shown.id}_1`);
  expect((await service.get(`/agents/assistant/runs/${runId}`)).body.status).toBe('completed');
});

test('results come in pages of any length, with the total', async () => {
  const { id } = await evaluated({ ...accuracy, eval_type: 'performance', num_iterations: 22 });
  const page = async (query: string) => {
    const { body } = await service.get(`/eval-runs/${id}/results?${query}`);
    return [body.data.map(({ iteration }: Body) => iteration), body.meta.total_count];
  };
  const numbers = Array.from({ length: 22 }, (_, at) => at + 1);
  expect(await page('limit=1000')).toEqual([numbers, 22]);
  expect(await page('limit=21&page=1')).toEqual([numbers.slice(0, 21), 22]);
  expect(await page('limit=21&page=2')).toEqual([[22], 22]);
  expect(await page('limit=21&page=3')).toEqual([[], 22]);
});

test('a score out of range is refused and asked for again; a judge that never gives one is an error', async () => {
  judgements.push({ reason: 'too good', score: 42 }, { reason: 'well', score: 9 }, 'x', 'x', 'x');
  const { eval_data: data } = await evaluated({ ...accuracy, num_iterations: 2 });
  expect(data).toMatchObject({ avg_score: 9, std_dev_score: 0 });
  expect(data.results).toHaveLength(1);
  expect(data.errors).toEqual([
    expect.objectContaining({ iteration: 2, message: expect.stringMatching(/judge/) }),
  ]);
});

test('the run of a component that failed or paused is listed as an error, and never judged', async () => {
  asked.length = 0;
  for (const input of ['fail please', 'pay the bill']) {
    const { eval_data: data, progress, status } = await evaluated({ ...accuracy, input });
    expect(data).toMatchObject({ results: [], avg_score: null, std_dev_score: null });
    expect(data.errors).toHaveLength(1);
    expect([status, progress.failed]).toEqual(['completed', 1]);
  }
  expect(asked).toEqual([]);
  // nothing waits for an answer that an eval does not give
  expect((await service.get('/agents/assistant/runs?status=paused')).body).toEqual([]);
});

test('agent_as_judge: numeric with a threshold and binary, each iteration of it', async () => {
  const body = { agent_id: 'assistant', eval_type: 'agent_as_judge', input: 'hi', criteria: 'Be nice' };
  judgements.push({ reason: 'r8', score: 8 }, { reason: 'r4', score: 4 });
  const numeric = await evaluated({ ...body, scoring_strategy: 'numeric', num_iterations: 2 });
  expect(numeric.eval_data).toMatchObject({
    run_id: numeric.id,
    results: [
      { input: 'hi', criteria: 'Be nice', score: 8, reason: 'r8', passed: true },
      { score: 4, passed: false },
    ],
    ...{ avg_score: 6, min_score: 4, max_score: 8, pass_rate: 50 },
  });
  expect(numeric.eval_input).toMatchObject({
    criteria: 'Be nice',
    scoring_strategy: 'numeric',
    threshold: 7,
  });
  // the default judge is not named
  expect([numeric.agent_id, numeric.model_id]).toEqual(['assistant', null]);
  judgements.push({ reason: 'nice', passed: true });
  const binary = await evaluated(body);
  expect(binary.eval_data).toMatchObject({ avg_score: null, std_dev_score: null, pass_rate: 100 });
  expect(binary.eval_data.results).toMatchObject([{ score: null, passed: true, reason: 'nice' }]);
  expect(binary.eval_input).toMatchObject({ scoring_strategy: 'binary', threshold: null });
});

test('performance: both forms of the figures, each run measured once', async () => {
  const calls = model.requests.length;
  const body = { team_id: 'desk', eval_type: 'performance', input: 'go', num_iterations: 3, warmup_runs: 2 };
  const { eval_data: data, eval_input: input, team_id: teamId } = await evaluated(body);
  expect(model.requests.length - calls).toBe(5);
  expect(teamId).toBe('desk');
  expect(input).toEqual({ num_iterations: 3, warmup_runs: 2, input: 'go' });
  expect(data.run_times).toHaveLength(3);
  expect(data.runs).toEqual(
    data.run_times.map((runtime: number, at: number) => ({ runtime, memory: data.memory_usages[at] })),
  );
  expect(Math.min(...data.memory_usages)).toBeGreaterThanOrEqual(0);
  for (const name of ['run_time', 'memory_usage'])
    for (const statistic of ['avg', 'min', 'max', 'std_dev', 'median', 'p95'])
      expect(data.result[`${statistic}_${name}`]).toBe(data[`${statistic}_${name}`]);
  expect(data.avg_run_time).toBeGreaterThan(0);
});

test('reliability: which tools were called, with which arguments; also in a workflow', async () => {
  const body = { agent_id: 'assistant', eval_type: 'reliability', input: 'add two and two' };
  const passed = await evaluated({
    ...{ ...body, expected_tool_calls: ['add'] },
    expected_tool_call_arguments: { add: { a: 2 } },
  });
  expect(passed.eval_data).toMatchObject({
    ...{ eval_status: 'PASSED', passed_tool_calls: ['add'], failed_tool_calls: [], missing_tool_calls: [] },
    ...{ additional_tool_calls: [], failed_argument_checks: [], passed_argument_checks: ['add'] },
  });
  const failed = await evaluated({ ...body, expected_tool_calls: ['boom'] });
  expect(failed.eval_data).toMatchObject({
    ...{ eval_status: 'FAILED', failed_tool_calls: ['add'], missing_tool_calls: ['boom'] },
  });
  const none = await evaluated({
    ...body,
    agent_id: undefined,
    workflow_id: 'chain',
    expected_tool_calls: [],
  });
  expect([none.workflow_id, none.eval_data.eval_status]).toEqual(['chain', 'FAILED']);
});

test('with a requested model, a copy of the component runs on it and its own model judges', async () => {
  judgements.push({ reason: 'fine', score: 5 });
  const shown = await evaluated({ ...accuracy, model_id: 'offline', model_provider: 'Runyard' });
  expect(shown).toMatchObject({ model_id: 'offline', model_provider: 'Runyard' });
  expect(shown.eval_data.avg_score).toBe(5);
  const { body } = await service.get(`/eval-runs/${shown.id}/results`);
  expect((await service.get(`/agents/assistant/runs/${body.data[0].run_id}`)).body.model).toBe('offline');
  expect(assistant.model?.id).toBe(model.id);
});

test('custom: scorers by name; stored runs are graded without executing anything', async () => {
  const { body: run } = await service.run('assistant', { message: 'What is 2+2?' });
  const calls = model.requests.length;
  const shown = await evaluated({ eval_type: 'custom', scorers: ['short'], run_ids: [run.run_id] });
  expect(model.requests.length).toBe(calls);
  expect(shown).toMatchObject({ agent_id: 'assistant', eval_input: { run_ids: [run.run_id] } });
  expect(shown.eval_data).toMatchObject({
    results: [{ run_id: run.run_id, scores: { short: { score: 16, passed: true, reason: 'by length' } } }],
    scorers: [{ name: 'short', avg_score: 16, pass_rate: 100 }],
  });
  const refused = async (body: object) => {
    const { status, body: answer } = await send('POST', '/eval-runs', { run_ids: [run.run_id], ...body });
    return [status, answer.detail];
  };
  const custom = { eval_type: 'custom', scorers: ['short'] };
  expect(await refused({ ...custom, run_ids: ['absent'] })).toEqual([404, 'Run not found']);
  expect((await refused({ eval_type: 'performance' }))[0]).toBe(400);
  expect((await refused({ ...custom, scorers: ['none'] }))[1]).toMatch(/^Unknown scorer 'none'/);
  expect((await refused({ ...custom, team_id: 'desk' }))[1]).toMatch(/is not a run of the team 'desk'/);
});

test('custom: ready scorers take options, and refuse those that they do not know or that are unsafe', async () => {
  const body = { agent_id: 'assistant', eval_type: 'custom', input: 'What is 2+2?', expected_output: '4.' };
  const { eval_data: data } = await evaluated({
    ...body,
    scorers: [
      'contains',
      { name: 'exact', options: { ignore_case: true } },
      { name: 'regex', options: { pattern: 'answer is \\d', name: 'number' } },
      { name: 'json_schema', options: { schema: { type: 'object' } } },
      { name: 'max_tokens', options: { tokens: 100_000 } },
    ],
  });
  const passed = Object.entries<Body>(data.results[0].scores).map(([name, score]) => [name, score.passed]);
  expect(Object.fromEntries(passed)).toEqual({
    ...{ contains: true, exact: false, number: true, json_schema: false, max_tokens: true },
  });
  for (const scorer of [
    { name: 'exact', options: { ignoreCaze: true } },
    { name: 'regex', options: { pattern: '(a+)+$' } },
    { name: 'json_schema', options: { schema: 'text' } },
    { name: 'similarity', options: { embedder: 'ai-sdk:evil:package' } },
    { name: 'short', options: { of: 1 } },
  ]) {
    const { status, body: answer } = await send('POST', '/eval-runs', { ...body, scorers: [scorer] });
    expect([status, answer.error_code], answer.detail).toEqual([400, 'scorer_invalid']);
  }
});

test('all cases of a stored dataset are executed, each with what is expected of it', async () => {
  const { body: dataset } = await send('POST', '/datasets', { name: 'sums' });
  const cases = [
    { id: 'plain', input: 'What is 2+2?', expected_output: '4' },
    { id: 'wrong', input: 'What is 2+3?', expected_output: '5' },
    { id: 'broken', input: 'fail please', expected_output: '6' },
  ];
  const added = await send('POST', `/datasets/${dataset.id}/cases`, { cases });
  expect(added.status, added.text).toBeLessThan(300);
  const body = { agent_id: 'assistant', eval_type: 'custom', scorers: ['contains'] };
  const shown = await evaluated({ ...body, dataset: 'sums' });
  expect(shown).toMatchObject({ dataset_id: dataset.id, progress: { done: 3, total: 3, failed: 1 } });
  expect(shown.eval_data.scorers).toMatchObject([{ name: 'contains', passed: 1, failed: 1, pass_rate: 50 }]);
  expect(shown.eval_data.errors).toMatchObject([{ case_id: 'broken', iteration: 1 }]);
  const { body: listed } = await service.get(`/eval-runs?dataset_id=${dataset.id}`);
  expect(listed.data.map(({ id }: Body) => id)).toEqual([shown.id]);
  expect((await send('POST', '/eval-runs', { ...body, dataset_id: 'none' })).status).toBe(404);
  const { body: empty } = await send('POST', '/datasets', { name: 'empty' });
  const refused = await send('POST', '/eval-runs', { ...body, dataset_id: empty.id });
  expect([refused.status, refused.body.error_code]).toEqual([400, 'eval_without_cases']);
});

test('what is wrong with a request is said before anything is executed', async () => {
  const calls = model.requests.length;
  const cases: [object | string, number, unknown][] = [
    [{ ...accuracy, agent_id: undefined }, 400, 'One of agent_id or team_id must be provided'],
    [{ ...accuracy, team_id: 'desk' }, 400, 'Only one of agent_id or team_id must be provided'],
    [{ ...accuracy, agent_id: 'none' }, 404, "Agent with id 'none' not found"],
    [{ ...accuracy, agent_id: undefined, team_id: 'none' }, 404, "Team with id 'none' not found"],
    [{ ...accuracy, expected_output: '' }, 400, 'expected_output is required for accuracy evaluation'],
    [{ ...accuracy, eval_type: 'agent_as_judge' }, 400, 'criteria is required for agent-as-judge evaluation'],
    [
      { ...accuracy, eval_type: 'reliability' },
      400,
      'expected_tool_calls is required for reliability evaluations',
    ],
    [{ ...accuracy, model_id: 'm', model_provider: 'x' }, 400, "Model provider 'x' is not supported."],
    [
      { ...accuracy, run_ids: ['x'] },
      400,
      expect.stringMatching(/^The request has several inputs: input, run_ids/),
    ],
  ];
  for (const [body, status, detail] of cases) {
    const answer = await send('POST', '/eval-runs', body);
    expect([answer.status, answer.body.detail], JSON.stringify(body)).toEqual([status, detail]);
  }
  for (const body of [
    { ...accuracy, input: '' },
    { ...accuracy, input: undefined },
    { ...accuracy, num_iterations: 101 },
    { ...accuracy, eval_type: 'bogus' },
    { ...accuracy, threshold: 0 },
    '{"agent_id"',
    'plain text',
  ]) {
    const { status } = await send('POST', '/eval-runs', body);
    expect([400, 422], JSON.stringify(body)).toContain(status);
  }
  expect(model.requests.length).toBe(calls);
});

test('lists filter, sort and keep their totals; evals are renamed and deleted with their sessions', async () => {
  const list = async (query: string) => (await service.get(`/eval-runs?${query}`)).body;
  const all = await list('limit=100');
  const types = new Set(all.data.map((one: Body) => one.eval_type));
  expect(types.size).toBe(5);
  expect((await list('type=workflow')).data.map((one: Body) => one.workflow_id)).toEqual(['chain']);
  expect((await list('team_id=desk')).meta.total_count).toBe(1);
  const two = await list('eval_types=performance,%20reliability');
  expect(new Set(two.data.map((one: Body) => one.eval_type))).toEqual(
    new Set(['performance', 'reliability']),
  );
  expect((await list('agent_id=assistant&type=team')).meta.total_count).toBe(0);
  const beyond = await list('page=99');
  expect([beyond.data, beyond.meta.total_count]).toEqual([[], all.data.length]);
  expect((await list('sort_by=nonsense&sort_order=asc&limit=1&page=0')).data[0].id).toBe(all.data.at(-1).id);
  expect((await service.get('/eval-runs?eval_types=accuracy,bogus')).body.detail).toBe(
    "Invalid eval_type: 'bogus' is not a valid EvalType. Valid types: accuracy, agent_as_judge, performance, reliability, custom",
  );

  const { id } = all.data.at(-1);
  const renamed = await send('PATCH', `/eval-runs/${id}`, { name: 'Sums' });
  expect([renamed.status, renamed.body.name, renamed.body.eval_data.avg_score]).toEqual([200, 'Sums', 7]);
  expect((await send('PATCH', `/eval-runs/${id}`, { name: '' })).status).toBe(422);
  const missing = await send('PATCH', '/eval-runs/none', { name: 'x' });
  expect([missing.status, missing.body.detail]).toEqual([404, "Eval run with id 'none' not found"]);
  expect((await send('PATCH', `/eval-runs/${id}?db_id=none`, { name: 'x' })).status).toBe(404);

  const session = `/sessions/eval_${id}_1?type=agent`;
  expect((await service.get(session)).status).toBe(200);
  expect((await send('DELETE', '/eval-runs', { eval_run_ids: [] })).status).toBe(422);
  expect((await send('DELETE', '/eval-runs', { eval_run_ids: [id, 'none'] })).status).toBe(204);
  expect((await service.get(`/eval-runs/${id}`)).status).toBe(404);
  expect((await service.get(`/eval-runs/${id}/results`)).status).toBe(404);
  expect((await service.get(session)).status).toBe(404);
  expect((await list('limit=1')).meta.total_count).toBe(all.data.length - 1);
});

test('/config names the table of evals', async () => {
  const { evals } = (await service.get('/config')).body;
  expect(evals.dbs).toMatchObject([{ db_id: 'default', tables: ['eval_runs'] }]);
});
