import { afterAll, beforeAll, expect, it } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { Gatehouse, type Holder } from '../../support/clients/tokens.js';

/** What the agent answers next. */
let suffix = '';
const model = scriptedModel((request) => {
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return `${said}${suffix}`;
});

let house: Gatehouse;
let ada: Holder;
beforeAll(async () => {
  house = await Gatehouse.shared({
    agents: [agent({ id: 'a', model })],
    scorers: [{ name: 'length', score: ({ run }) => ({ score: run.output.length, passed: null }) }],
  });
  ada = await house.person('ada');
});
afterAll(() => house.service.stop());

async function evaluated(body: object): Promise<string> {
  const answer = await ada.send('POST', '/eval-runs', {
    agent_id: 'a',
    eval_type: 'custom',
    scorers: ['length'],
    ...body,
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.id;
}

it('compares two evals case by case, for callers who may see both', async () => {
  const body = { input: 'case', num_iterations: 5 };
  const before = await evaluated(body);
  suffix = ' and more';
  const after = await evaluated(body);
  const path = `/eval-runs/${after}/comparison?with=${before}`;
  const compared = await ada.get(`${path}&level=0.01`);
  expect(compared.status, compared.text).toBe(200);
  expect(compared.body).toMatchObject({
    eval_run_id: after,
    with: before,
    level: 0.01,
    warnings: [],
    failed_runs: { before: 0, after: 0 },
    meta: { total_count: 1, total_pages: 1 },
  });
  expect(compared.body.scorers).toMatchObject([
    { name: 'length', changes: { better: 1, worse: 0 }, difference: null, p_value: null, significant: false },
  ]);
  const [one] = compared.body.data;
  expect(one).toMatchObject({
    change: 'better',
    before: { count: 5, mean: 4, std_dev: 0 },
    after: { count: 5, mean: 13 },
    difference: { mean: 9, low: null, high: null },
    significant: true,
  });
  // 2 of the 252 ways to divide ten runs into two evals
  expect(one.p_value).toBeCloseTo(2 / 252, 9);
  expect((await ada.get(`${path}&change=worse`)).body.data).toEqual([]);

  const bob = await house.person('bob');
  for (const [holder, id, other] of [
    [bob, after, before],
    [ada, 'no', before],
    [ada, after, 'no'],
  ] as const)
    expect((await holder.get(`/eval-runs/${id}/comparison?with=${other}`)).status).toBe(404);
  for (const query of ['', `?with=${before}&level=0`, `?with=${before}&level=x`])
    expect((await ada.get(`/eval-runs/${after}/comparison${query}`)).status).toBe(422);
});
