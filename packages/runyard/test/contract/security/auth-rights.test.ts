import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, agentFactory, step, team, tool, workflow } from '../../../src/index.js';
import { adminScope, everydayScopes, Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Answer, Body } from '../../support/service.js';

const idsOf = (list: Body[]) => list.map(({ id }) => id);

describe('instance scopes', () => {
  async function yard() {
    const model = (id: string) => new ScriptBook({ id, provider: 'P' }).model;
    const plain = agent({ id: 'plain', model: model('m-plain') });
    const hidden = agent({ id: 'hidden', model: model('m-hidden') });
    const made = agentFactory({ id: 'made', build: () => plain });
    return Gatehouse.open({
      agents: [plain, hidden, made],
      teams: ['t1', 't2'].map((id) => team({ id, model: model(`m-${id}`), members: [plain] })),
      workflows: ['w1', 'w2'].map((id) => workflow({ id, steps: [step({ name: 's', run: () => 'ok' })] })),
    });
  }

  test('reduce a list to what they name', async () => {
    const house = await yard();
    const list = async (path: string, ...scopes: string[]) => (await house.person('ada', scopes)).get(path);
    expect(idsOf((await list('/agents', 'agents:read')).body)).toEqual(['plain', 'hidden', 'made']);
    expect(idsOf((await list('/agents', 'agents:*:read')).body)).toEqual(['plain', 'hidden', 'made']);
    expect(idsOf((await list('/agents', adminScope)).body)).toEqual(['plain', 'hidden', 'made']);
    const some = await list('/agents', 'agents:plain:read', 'agents:made:read', 'agents:hidden:run');
    expect(idsOf(some.body)).toEqual(['plain', 'made']);
    expect(await list('/agents', 'agents:nope:read')).toMatchObject({ status: 200, body: [] });
    expect(idsOf((await list('/teams', 'teams:t2:read')).body)).toEqual(['t2']);
    expect(idsOf((await list('/workflows', 'workflows:w1:read')).body)).toEqual(['w1']);
    for (const scopes of [['agents:run'], ['agents:plain:run'], ['teams:read']]) {
      const { status, body } = await list('/agents', ...scopes);
      expect([status, body.detail]).toEqual([
        403,
        'Insufficient permissions. Required scope(s): agents:read',
      ]);
    }
  });

  test('leave the components and models that may be seen or run, and not a word of the rest', async () => {
    const house = await yard();
    const scopes = ['config:read', 'agents:plain:run', 'teams:t2:read', 'workflows:w2:read'];
    const ada = await house.person('ada', scopes);
    const { body, text } = await ada.get('/config');
    const { agents, teams, workflows, available_models } = body;
    expect([agents, teams, workflows].map(idsOf)).toEqual([['plain'], ['t2'], ['w2']]);
    expect(available_models).toEqual(['m-plain', 'm-t2']);
    for (const name of ['hidden', 'made', 't1', 'w1']) expect(text).not.toContain(name);
    expect(idsOf((await ada.get('/models')).body)).toEqual(['m-plain', 'm-t2']);
    const none = (await (await house.person('bob', ['config:read'])).get('/config')).body;
    expect([none.agents, none.teams, none.workflows]).toEqual([[], [], []]);
    const all = (await (await house.admin()).get('/config')).body;
    expect(idsOf(all.agents)).toEqual(['plain', 'hidden', 'made']);
  });

  test('let a caller who may run or read a component see its runs, and nothing of others', async () => {
    const house = await yard();
    const bot = await house.account('bot', 'agents:plain:run');
    const { run_id: runId } = (await bot.run('plain', { message: 'hello' })).body;
    expect((await bot.get(`/agents/plain/runs/${runId}`)).body.status).toBe('completed');
    expect((await bot.get('/agents/plain/runs')).body).toHaveLength(1);
    expect((await bot.run('hidden', { message: 'hello' })).status).toBe(403);
    expect((await bot.get(`/agents/hidden/runs/${runId}`)).status).toBe(403);
    const reader = await house.person('ada', ['agents:plain:read']);
    expect((await reader.get('/agents/plain/runs')).status).toBe(200);
    expect((await reader.run('plain', { message: 'hello' })).status).toBe(403);
    for (const path of [`/agents/plain/runs/${runId}/resume`, '/agents/plain/sessions/s/fork'])
      expect((await reader.submit(path)).status).toBe(403);
  });
});

describe('approvals', () => {
  const gated = 'This run requires admin approval before it can be continued';

  async function yard(settings: object = {}) {
    const paid: number[] = [];
    const book = new ScriptBook();
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      inputSchema: z.object({ amount: z.number() }),
      approval: 'required',
      execute: ({ amount }) => paid.push(amount),
    });
    const payer = agent({ id: 'payer', model: book.model, tools: [pay] });
    const crew = team({ id: 'crew', model: book.model, members: [payer], tools: [pay] });
    const house = await Gatehouse.open({ agents: [payer], teams: [crew], ...settings });
    const ada = await house.person('ada', [...everydayScopes, 'approvals:delete']);
    const paused = async (holder: Holder, path = '/agents/payer/runs') => {
      book.write('pay', { toolCalls: [{ name: 'pay', arguments: { amount: 5 } }] }, 'paid');
      const { body } = await holder.submit(path, { message: 'pay' });
      expect(body.status).toBe('paused');
      return { run: body, approvalId: body.tools[0].approval_id as string };
    };
    return { house, paid, ada, admin: await house.admin(), paused };
  }

  const decide = (holder: Holder, id: string, status = 'approved'): Promise<Answer> =>
    holder.send('POST', `/approvals/${id}/resolve`, { status });
  const goOn = (holder: Holder, run: Body, form = {}): Promise<Answer> =>
    holder.submit(`/agents/payer/runs/${run.run_id}/continue`, form);

  test('a run waits for the decision, whatever a caller who cannot decide sends', async () => {
    const { ada, admin, paused, paid } = await yard();
    const { run, approvalId } = await paused(ada);
    const confirmed = run.tools.map((call: Body) => ({ ...call, confirmed: true }));
    for (const form of [{}, { tools: confirmed }, { stream: true }, { fork: true }, { background: true }]) {
      const { status, body } = await goOn(ada, run, form);
      expect([status, body.detail, body.error_code]).toEqual([403, gated, 'approval_pending']);
    }
    // a caller who may decide has to do so before
    expect((await goOn(admin, run, { tools: confirmed })).status).toBe(400);
    expect(paid).toEqual([]);
    expect((await decide(admin, approvalId)).body).toMatchObject({ status: 'approved', resolved_by: 'root' });
    expect((await goOn(ada, run)).body).toMatchObject({ status: 'completed', user_id: 'ada' });
    expect(paid).toEqual([5]);
  });

  test('the run of a team waits too, and its approval is its owner’s', async () => {
    const { ada, admin, paused } = await yard();
    const { run, approvalId } = await paused(ada, '/teams/crew/runs');
    const path = `/teams/crew/runs/${run.run_id}/continue`;
    expect((await ada.submit(path)).body.detail).toBe(gated);
    expect((await ada.get('/approvals')).body.data).toMatchObject([{ id: approvalId, user_id: 'ada' }]);
    await decide(admin, approvalId, 'rejected');
    expect((await ada.submit(path)).body.status).toBe('completed');
  });

  test('an admin is known by the scope that is set, at the gate too', async () => {
    const { house, paused, ada } = await yard({ adminScope: 'company:root' });
    const { run, approvalId } = await paused(ada);
    const root = await house.holder({ sub: 'root', scopes: ['company:root'] });
    const other = await house.holder({ sub: 'ada', scopes: [...everydayScopes, 'agent_os:admin'] });
    expect((await goOn(other, run)).status).toBe(403);
    expect((await goOn(root, run)).status).toBe(400);
    await decide(root, approvalId);
    expect((await goOn(root, run)).body).toMatchObject({ status: 'completed', user_id: 'ada' });
  });

  test('people who are kept apart see their own and decide on none', async () => {
    const { house, paused, ada } = await yard();
    const { approvalId } = await paused(ada);
    const scopes = [...everydayScopes, 'approvals:write', 'approvals:delete'];
    const holders = [await house.person('ada', scopes), await house.person('bob', scopes)];
    for (const holder of [...holders, await house.nobody(scopes)]) {
      for (const answer of [
        await decide(holder, approvalId),
        await holder.delete(`/approvals/${approvalId}`),
      ])
        expect([answer.status, answer.body.detail]).toEqual([404, 'Approval not found']);
    }
    expect((await holders[0]!.get('/approvals')).body.data).toHaveLength(1);
    for (const holder of [holders[1]!, await house.nobody()]) {
      expect((await holder.get('/approvals?user_id=ada')).body.data).toEqual([]);
      expect((await holder.get('/approvals/count?user_id=ada')).body).toEqual({ count: 0 });
      expect((await holder.get(`/approvals/${approvalId}/status`)).status).toBe(404);
    }
  });

  test('a service account that may decide finds what waits, and decides; others see their own', async () => {
    const { house, paused, ada, paid } = await yard();
    const { run, approvalId } = await paused(ada);
    const reader = await house.account('reader', 'approvals:read');
    expect((await reader.get('/approvals')).body.data).toEqual([]);
    expect((await decide(reader, approvalId)).status).toBe(403);
    const clerk = await house.account('clerk', 'approvals:read', 'approvals:write', 'agents:run');
    const [found] = (await clerk.get('/approvals?status=pending&user_id=ada')).body.data;
    expect(found.id).toBe(approvalId);
    expect((await decide(clerk, found.id)).body).toMatchObject({ resolved_by: 'sa:clerk' });
    // it decides for others, but continues only its own runs
    expect((await goOn(clerk, run)).status).toBe(404);
    expect((await goOn(ada, run)).body.status).toBe('completed');
    expect(paid).toEqual([5]);
    const own = await paused(clerk);
    const refused = await decide(clerk, own.approvalId);
    expect([refused.status, refused.body.error_code]).toEqual([403, 'own_approval']);
  });

  test('four eyes are required where callers are kept apart, unless the settings say otherwise', async () => {
    for (const [settings, status] of [
      [{}, 403],
      [{ approvalsFourEyes: false }, 200],
      [{ userIsolation: false }, 200],
      [{ userIsolation: false, approvalsFourEyes: true }, 403],
    ] as const) {
      const { admin, paused } = await yard(settings);
      expect((await decide(admin, (await paused(admin)).approvalId)).status).toBe(status);
    }
  });
});
