import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { agent, Runyard, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { preparedSqlite } from '../../support/databases.js';
import { type Body, TestService } from '../../support/service.js';

/** What every process registers. The model answers with its instructions, and with nothing before it is released. */
function yard() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = scriptedModel(
    async ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'user' && last.content === 'pay')
        return { toolCalls: [{ name: 'pay', arguments: {}, id: 'call' }] };
      if (last?.content === 'wait') await released;
      return String(messages.find(({ role }) => role === 'system')?.content);
    },
    { id: 'telling' },
  );
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: {} },
    requiresConfirmation: true,
    execute: () => 'paid',
  });
  return { release, options: { registry: { models: [model], tools: [pay] } } };
}

async function post(service: TestService, path: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  const answer = await service.call('POST', path, { headers, body: JSON.stringify(body) });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const config = (instructions: string) => ({
  name: 'Teller',
  model: { id: 'telling' },
  instructions,
  tools: [{ name: 'pay', parameters: {} }],
});

it('executes the rest of an eval with what was stored when it began, although code now has the id', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-components-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  writeFileSync(join(dataDir, 'runyard.db'), await preparedSqlite());
  const scorers = [{ name: 'any', score: () => ({ score: 1, passed: true }) }];
  const first = await TestService.start({ ...yard().options, dataDir, scorers });
  const teller = { name: 'Teller', component_id: 'teller', component_type: 'agent' };
  await post(first, '/components', { ...teller, stage: 'published', config: config('stored') });
  const asked = { agent_id: 'teller', eval_type: 'custom', scorers: ['any'], input: 'wait' };
  const { body: begun } = await first.call('POST', '/eval-runs', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, num_iterations: 2, background: true }),
  });
  await expect.poll(async () => (await first.get('/agents/teller/runs')).body).toHaveLength(1);
  await first.stop();

  const { options, release } = yard();
  const agents = [agent({ id: 'teller', model: scriptedModel(() => 'code') })];
  const second = await TestService.start({ ...options, agents, dataDir, scorers });
  onTestFinished(() => second.stop());
  release();
  await expect
    .poll(async () => (await second.get(`/eval-runs/${begun.id}`)).body)
    .toMatchObject({ status: 'completed' });
  const { body: runs } = await second.get('/agents/teller/runs');
  expect(runs.map(({ content }: Body) => content)).toEqual(['stored', 'stored']);
});

it('continues its runs after a restart in the versions that they began with', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-components-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  writeFileSync(join(dataDir, 'runyard.db'), await preparedSqlite());
  const first = await TestService.start({ ...yard().options, dataDir });
  const teller = { name: 'Teller', component_id: 'teller', component_type: 'agent' };
  await post(first, '/components', { ...teller, stage: 'published', config: config('one') });
  const { body: paused } = await first.run('teller', { message: 'pay' });
  const { body: running } = await first.run('teller', { message: 'wait', background: true });
  await post(first, '/components/teller/configs', { stage: 'draft', config: config('draft') });
  const { body: preview } = await first.run('teller', { message: 'pay', version: 2 });
  expect([paused.status, preview.status]).toEqual(['paused', 'paused']);
  // another save of the draft, and a version that is current from now on
  const saved = JSON.stringify({ config: config('saved') });
  const headers = { 'content-type': 'application/json' };
  await first.call('PATCH', '/components/teller/configs/2', { headers, body: saved });
  await post(first, '/components/teller/configs', { stage: 'published', config: config('three') });
  await first.stop();

  const other = new Runyard({ ...yard().options, dataDir, log: silentLog });
  const fits: unknown[] = [];
  for await (const replayed of other.replay()) fits.push(replayed.fits);
  await other.close();
  expect(fits).toEqual([true, true, true]);

  const { options, release } = yard();
  const second = await TestService.start({ ...options, dataDir });
  onTestFinished(() => second.stop());
  release();
  const ended = () => second.get(`/agents/teller/runs/${running.run_id}`);
  await expect.poll(async () => (await ended()).body.status).toBe('completed');
  expect((await ended()).body.content).toBe('one');
  const continued = async ({ run_id: runId, tools }: Body) => {
    const answers = tools.map((one: Body) => ({ ...one, confirmed: true }));
    const { body } = await second.submit(`/agents/teller/runs/${runId}/continue`, {
      ...{ tools: answers, stream: false },
    });
    return body.content;
  };
  expect(await continued(paused)).toBe('one');
  expect(await continued(preview)).toBe('draft');
  expect((await second.run('teller', { message: 'hi' })).body.content).toBe('three');
  expect((await second.run('teller', { message: 'hi', version: 2 })).body.content).toBe('saved');
});
