import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { ask } from '../../heart/teams/team-runs.js';
import { preparedSqlite } from '../../support/databases.js';
import { type Body, startService, TestService } from '../../support/service.js';

/** Two models. A leader asks the first member that its system message names, and a member with the tool pays. */
function yard() {
  const calls: string[] = [];
  const named = (id: string) =>
    scriptedModel(
      ({ messages, tools }) => {
        const isLeader = tools.some(({ name }) => name === 'delegate_task_to_member');
        calls.push(`${id}: ${isLeader ? 'leader' : 'member'}`);
        if (messages.at(-1)?.role !== 'user') return `answer of ${id}`;
        if (tools.some(({ name }) => name === 'pay')) return { toolCalls: [{ name: 'pay', id: 'call' }] };
        const system = String(messages.find(({ role }) => role === 'system')?.content);
        const member = ['desk', 'writer', 'payer'].find((one) => system.includes(one)) ?? '';
        return isLeader ? { toolCalls: [ask(member, 'do it')] } : `answer of ${id}`;
      },
      { id },
    );
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: {} },
    requiresConfirmation: true,
    execute: () => 'paid',
  });
  return { calls, options: { registry: { models: [named('one'), named('two')], tools: [pay] } } };
}

async function stored(service: TestService, type: string, id: string, config: object): Promise<Body> {
  const { status, body } = await service.call('POST', '/components', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: id, component_id: id, component_type: type, stage: 'published', config }),
  });
  expect(status).toBe(201);
  return body;
}

const agents = (...ids: string[]) => ids.map((id) => ({ type: 'agent', agent_id: id }));
const run = (service: TestService, path: string) => service.submit(path, { message: 'go', stream: false });

it('members of stored teams without a model take that of the team, also in nested teams', async () => {
  const { options } = yard();
  const service = await startService(options);
  const alone = await stored(service, 'agent', 'writer', { instructions: 'Write.' });
  expect(alone.degraded).toContain('model is missing');
  await stored(service, 'agent', 'null-writer', { instructions: 'Write.', model: null });
  await stored(service, 'agent', 'own', { model: { id: 'two' } });
  await stored(service, 'team', 'desk', { members: agents('writer', 'null-writer', 'own') });
  const outer = [{ type: 'team', team_id: 'desk' }];
  await stored(service, 'team', 'first', { model: { id: 'one' }, members: outer });
  await stored(service, 'team', 'second', { model: { id: 'two' }, members: agents('writer') });
  const modelsOf = ({ members = [] }: Body): unknown[] =>
    members.map((one: Body) => [
      one.id,
      one.model?.model,
      ...(one.members === undefined ? [] : modelsOf(one)),
    ]);
  const shown = async (id: string) => modelsOf((await service.get(`/teams/${id}`)).body);
  expect(await shown('first')).toEqual([
    ['desk', 'one', ['writer', 'one'], ['null-writer', 'one'], ['own', 'two']],
  ]);
  expect(await shown('second')).toEqual([['writer', 'two']]);
  const { body } = await run(service, '/teams/first/runs');
  expect(body.status).toBe('completed');
  expect(body.member_responses[0]).toMatchObject({ team_id: 'desk', status: 'completed' });
  // by itself it is refused as before, also after a team has used it
  for (const path of ['/agents/writer', '/teams/desk'])
    expect(await run(service, `${path}/runs`)).toMatchObject({
      status: 404,
      body: { hint: expect.stringContaining('model is missing') },
    });
  const steps = [{ type: 'Step', name: 'write', agent_id: 'writer' }];
  expect((await stored(service, 'workflow', 'flow', { steps })).degraded).toContain(
    'steps[0].agent_id → model is missing',
  );
});

it('a run of such a team continues after a restart, when its member has another version', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-member-models-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  writeFileSync(join(dataDir, 'runyard.db'), await preparedSqlite());
  const first = await TestService.start({ ...yard().options, dataDir });
  const tools = [{ name: 'pay', parameters: {} }];
  await stored(first, 'agent', 'payer', { tools });
  await stored(first, 'team', 'desk', { model: { id: 'one' }, members: agents('payer') });
  const { body: paused } = await run(first, '/teams/desk/runs');
  expect(paused.status).toBe('paused');
  await first.stop();
  const { options, calls } = yard();
  const second = await TestService.start({ ...options, dataDir });
  onTestFinished(() => second.stop());
  await second.call('POST', '/components/payer/configs', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stage: 'published', config: { tools, model: { id: 'two' } } }),
  });
  const requirements = paused.requirements.map((one: Body) => ({ ...one, confirmation: true }));
  const { body } = await second.submit(`/teams/desk/runs/${paused.run_id}/continue`, {
    requirements,
    stream: false,
  });
  expect(body).toMatchObject({ status: 'completed', content: 'answer of one' });
  expect(calls).toEqual(['one: member', 'one: leader']);
});
