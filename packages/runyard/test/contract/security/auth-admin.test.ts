import { describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { everydayScopes, Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { answered, payCall, payingAgent } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService } from '../../support/service.js';

async function yard() {
  const book = new ScriptBook();
  const { agent: payer, paid } = payingAgent(book, 'a');
  const house = await Gatehouse.open({ agents: [payer] });
  const [ada, admin] = [await house.person('ada'), await house.admin()];
  return { house, book, paid, ada, admin };
}

describe('an admin acts for others', () => {
  test('starts runs for the users they name, and for themselves', async () => {
    const { ada, admin } = await yard();
    const form = { message: 'hello', session_id: 's' };
    expect((await admin.run('a', { ...form, user_id: 'ada' })).body.user_id).toBe('ada');
    expect((await ada.get('/sessions/s')).body.user_id).toBe('ada');
    expect((await admin.run('a', { message: 'hello' })).body.user_id).toBe('root');
    const foreign = await admin.run('a', form);
    expect([foreign.status, foreign.body.error_code]).toEqual([409, 'session_of_another_user']);
  });

  test('continues their runs, as theirs', async () => {
    const { book, ada, admin, paid } = await yard();
    book.write('pay', { toolCalls: [payCall(5)] }, 'paid');
    const run = (await ada.run('a', { message: 'pay', session_id: 's' })).body;
    const path = `/agents/a/runs/${run.run_id}`;
    const tools = answered(run, { 'pay-5': { confirmed: true } });
    for (const user_id of ['bob', 'root'])
      expect((await admin.submit(`${path}/continue`, { tools, user_id })).status).toBe(404);
    const done = (await admin.submit(`${path}/continue`, { tools, user_id: 'ada' })).body;
    expect(done).toMatchObject({ status: 'completed', user_id: 'ada', session_id: 's' });
    expect(paid).toHaveLength(1);
    const copy = (await admin.submit(`${path}/continue`, { input: 'more' })).body;
    expect(copy).toMatchObject({ user_id: 'ada', session_id: 's' });
    expect((await ada.get(`/agents/a/runs/${copy.run_id}`)).status).toBe(200);
    const resumed = await admin.stream(`${path}/resume`);
    await resumed.over;
    expect(resumed.names).toContain('RunCompleted');
  });

  test('ends their runs', async () => {
    const { book, ada, admin } = await yard();
    book.write('pay', { toolCalls: [payCall(5)] });
    const { run_id: runId } = (await ada.run('a', { message: 'pay' })).body;
    await admin.submit(`/agents/a/runs/${runId}/cancel`);
    expect((await ada.get(`/agents/a/runs/${runId}`)).body.status).toBe('cancelled');
  });

  test('copies their sessions, which stay theirs', async () => {
    const { ada, admin } = await yard();
    await ada.run('a', { message: 'hello', session_id: 's' });
    expect((await admin.submit('/agents/a/sessions/s/fork?user_id=bob')).status).toBe(400);
    const { body } = await admin.submit('/agents/a/sessions/s/fork');
    expect((await ada.get(`/sessions/${body.session_id}`)).body.user_id).toBe('ada');
  });

  test('makes sessions, memories and learnings for them', async () => {
    const { ada, admin } = await yard();
    const made = await admin.send('POST', '/sessions', { session_id: 'gift', user_id: 'ada' });
    expect(made.body.user_id).toBe('ada');
    expect((await ada.get('/sessions/gift')).status).toBe(200);
    const memory = (await admin.send('POST', '/memories', { memory: 'Likes tea', user_id: 'ada' })).body;
    expect((await ada.get(`/memories/${memory.memory_id}`)).body.memory).toBe('Likes tea');
    const learning = { learning_type: 'user_profile', content: { tea: true }, user_id: 'ada' };
    expect((await admin.send('POST', '/learnings', learning)).status).toBe(201);
    expect((await ada.get('/learnings')).body.data).toHaveLength(1);
    expect((await admin.delete('/learnings/users/ada')).status).toBe(204);
    expect((await ada.get('/learnings')).body.data).toEqual([]);
  });

  test('whatever the scope is called that makes them one', async () => {
    const house = await Gatehouse.open({
      agents: [agent({ id: 'a', model: new ScriptBook().model })],
      adminScope: 'company:root',
    });
    const start = async (scope: string) => {
      const scopes = [...everydayScopes, scope];
      const holder = await house.holder({ sub: 'root', scopes });
      return (await holder.run('a', { message: 'hello', user_id: 'ada' })).body.user_id;
    };
    expect(await start('company:root')).toBe('ada');
    expect(await start('agent_os:admin')).toBe('root');
  });
});

describe('callers cannot give the service’s own names', () => {
  const reserved = ['sa:evil', '__scheduler__', '__oauth__:client'];
  const refused = { status: 403, body: { error_code: 'reserved_user' } };

  async function expectRefusals(holder: Pick<Holder, 'run' | 'send'>): Promise<void> {
    for (const user_id of reserved) {
      expect(await holder.run('a', { message: 'hello', user_id })).toMatchObject(refused);
      expect(await holder.send('POST', '/sessions', { user_id })).toMatchObject(refused);
      expect(await holder.send('POST', '/memories', { memory: 'x', user_id })).toMatchObject(refused);
      const learning = { learning_type: 'note', content: {}, user_id };
      expect(await holder.send('POST', '/learnings', learning)).toMatchObject(refused);
    }
  }

  test('with a token, an admin’s too', async () => {
    const { ada, admin } = await yard();
    await expectRefusals(ada);
    await expectRefusals(admin);
  });

  test('without one, and with the security key', async () => {
    const agents = [agent({ id: 'a', model: new ScriptBook().model })];
    const securityKey = 'a-key-that-nobody-can-guess';
    for (const [settings, authorization] of [
      [{}, undefined],
      [{ securityKey }, `Bearer ${securityKey}`],
    ] as const) {
      const service = await startService({ agents, ...settings });
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      await expectRefusals({
        run: (id, form) => service.run(id, form, { headers }),
        send: (method, path, body) =>
          service.call(method, path, {
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
      });
    }
  });

  test('but a service account may say who it is', async () => {
    const { house } = await yard();
    const bot = await house.account('bot', 'agents:run', 'agents:read');
    const { body } = await bot.run('a', { message: 'hello', user_id: 'sa:bot' });
    expect(body.user_id).toBe('sa:bot');
    expect((await bot.run('a', { message: 'hello', user_id: 'ada' })).body.user_id).toBe('sa:bot');
    const runs = (await bot.get('/agents/a/runs')).body;
    expect(runs.map((run: Body) => run.user_id)).toEqual(['sa:bot', 'sa:bot']);
  });
});
