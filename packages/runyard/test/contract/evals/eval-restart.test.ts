import { expect, onTestFinished, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { freshSqlite } from '../../support/databases.js';
import { type Body, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

test('an eval continues after a restart, and a finished case is not executed again', async () => {
  const place = await freshSqlite();
  let calls = 0;
  let isHeld = true;
  const model = scriptedModel(async (_request, _call) => {
    calls += 1;
    // the second case is in progress when the service stops
    if (calls === 2 && isHeld) await new Promise(() => {});
    return 'Done.';
  });
  const options = {
    database: place.url,
    agents: [agent({ id: 'writer', model })],
    scorers: [{ name: 'any', score: () => ({ score: 1, passed: true }) }],
  };
  const first = await TestService.start(options);
  const asked = { agent_id: 'writer', eval_type: 'custom', scorers: ['any'], input: 'go', num_iterations: 3 };
  const { body: begun } = await first.call('POST', '/eval-runs', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, background: true }),
  });
  const path = `/eval-runs/${begun.id}`;
  const done = async (service: TestService) => (await service.get(path)).body.progress.done;
  await until('the second case is in progress', async () => calls === 2 && (await done(first)) === 1);
  const { body: before } = await first.get(`${path}/results`);
  await first.stop();

  isHeld = false;
  const second = await TestService.start(options);
  onTestFinished(() => second.stop());
  await until('the eval has ended', async () => (await second.get(path)).body.status === 'completed');
  // one call for each case, and the one that the stop interrupted
  expect(calls).toBe(4);
  const { body: after } = await second.get(`${path}/results`);
  expect(after.data.map(({ iteration }: Body) => iteration)).toEqual([1, 2, 3]);
  expect(after.data[0]).toEqual(before.data[0]);
  expect((await second.get('/agents/writer/runs')).body).toHaveLength(3);

  // its job has ended, and the process could not say so
  const database = await place.open();
  await database.query.updateTable('eval_runs').set({ status: 'running' }).execute();
  const { data } = (await second.get('/eval-runs')).body;
  expect(data.map(({ status }: Body) => status)).toEqual(['error']);
});
