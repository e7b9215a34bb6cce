import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, Runyard, step, team, tool, workflow } from '../../../src/index.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { scriptedModel } from '../../../src/testing.js';
import { forEachDatabase } from '../../support/databases.js';
import { type Body, startService } from '../../support/service.js';
import { until } from '../../support/until.js';

const inArgs = 'ARGUMENT-7431';
const inResult = 'RESULT-9902';
const inMember = 'MEMBER-5518';

const inputSchema = z.object({ secret: z.string() });

const look = tool({
  name: 'look',
  description: 'Looks',
  inputSchema,
  execute: async (_input, context) => {
    await context.emit({ progress: `half of ${inResult}` });
    return `${inResult} ${'x'.repeat(70_000)}`;
  },
});
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema,
  requiresConfirmation: true,
  execute: () => `paid ${inResult}`,
});

const calls = (...names: string[]) => ({
  text: 'Let me see.',
  providerData: { raw: [{ input: inArgs }] },
  toolCalls: names.map((name) => ({ name, arguments: { secret: inArgs } })),
});

const looking = () =>
  scriptedModel(({ messages }) => (messages.at(-1)?.role === 'user' ? calls('look') : 'Done.'));

/** Everything that the database holds, as one text. */
async function dump(database: Database): Promise<string> {
  const tables =
    database.dialect === 'sqlite'
      ? `SELECT name FROM sqlite_master WHERE type = 'table'`
      : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`;
  const rows = await database.transaction(async (run) => {
    const all: unknown[] = [];
    for (const { name } of (await run(tables)) as { name: string }[])
      all.push(await run(`SELECT * FROM "${name}"`));
    return all;
  });
  return JSON.stringify(rows);
}

forEachDatabase((_dialect, freshPlace) => {
  test('a run that has ended has nothing of its tool calls but their names, in any view and in no table', async () => {
    const { url, open } = await freshPlace();
    const model = looking();
    const service = await startService({
      database: url,
      agents: [agent({ id: 'a', model, tools: [look], storeToolMessages: false, addHistoryToContext: true })],
    });
    const path = '/agents/a/runs';
    const stream = await service.stream('a', { message: 'Hi', session_id: 's', run_id: 'r' });
    await stream.over;
    // those who follow the run see all of it
    expect(stream.first('ToolCallCompleted').tool).toMatchObject({ tool_args: { secret: inArgs } });
    expect(JSON.stringify(stream.events)).toContain(inResult);

    const { body: run } = await service.get(`${path}/r?session_id=s`);
    expect(run).toMatchObject({ status: 'completed', content: 'Done.' });
    expect(run.tools).toMatchObject([
      { tool_name: 'look', tool_args: null, result: null, tool_call_error: false },
    ]);
    expect(run.tools[0].metrics.duration).toBeGreaterThanOrEqual(0);
    expect(run.messages.map(({ role, content }: Body) => `${role}: ${content}`)).toEqual([
      'user: Hi',
      'assistant: Let me see.',
      'assistant: Done.',
    ]);
    expect(run.metrics.total_tokens).toBeGreaterThan(0);
    const replay = await service.submitForStream(`${path}/r/resume`, {
      last_event_index: -1,
      session_id: 's',
    });
    await replay.over;
    const shown = (events: Body[]) =>
      events.filter(({ event }) => event !== 'replay').map(({ event }) => event);
    expect(shown(replay.events)).toEqual(shown(stream.events));
    const trace = (await service.get('/traces?run_id=r')).body.data[0];
    const views = [
      run,
      replay.events,
      (await service.get('/sessions/s?type=agent')).body,
      (await service.get('/sessions/s/runs?type=agent')).body,
      (await service.get(`/traces/${trace.trace_id}`)).body,
      await dump(await open()),
    ].map((view) => JSON.stringify(view));
    for (const view of views) {
      expect(view).not.toContain(inArgs);
      expect(view).not.toContain(inResult);
    }

    await service.run('a', { message: 'Again', session_id: 's' });
    expect(model.requests.at(-2)!.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...['user: Hi', 'assistant: Let me see.', 'assistant: Done.', 'user: Again'],
    ]);
  });

  test('a paused run keeps what it needs, over a restart, and nothing once it is cancelled or has ended', async () => {
    const { url, open } = await freshPlace();
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user' ? calls('look', 'pay') : `Done after ${messages.length}.`,
    );
    const paying = () => agent({ id: 'a', model, tools: [look, pay], storeToolMessages: false });
    const component = paying();
    const first = new Runyard({ database: url, agents: [component], logLevel: 'silent' });
    const [one, two] = [await component.run('Hi'), await component.run('Hi')];
    expect([one.status, two.status]).toEqual(['paused', 'paused']);
    await first.close();
    const service = await startService({ database: url, agents: [paying()] });
    const { body: paused } = await service.get(`/agents/a/runs/${one.runId}?session_id=${one.sessionId}`);
    expect(JSON.stringify(paused.tools)).toContain(inResult);
    const waiting = paused.tools.find(({ tool_name }: Body) => tool_name === 'pay');
    const answers = { tools: [{ tool_call_id: waiting.tool_call_id, confirmed: true }] };
    const { body: ended } = await service.submit(`/agents/a/runs/${one.runId}/continue`, {
      stream: false,
      session_id: one.sessionId,
      ...answers,
    });
    expect(ended).toMatchObject({ status: 'completed', content: 'Done after 4.' });
    expect(model.requests.at(-1)!.messages.at(-2)?.content).toContain(inResult);
    const cancelled = await service.submit(`/agents/a/runs/${two.runId}/cancel`, {
      session_id: two.sessionId,
    });
    expect(cancelled.status).toBe(200);
    const { body: later } = await service.get(`/agents/a/runs/${one.runId}?session_id=${one.sessionId}`);
    expect(later.tools.map(({ tool_name, confirmed }: Body) => [tool_name, confirmed])).toEqual([
      ['look', null],
      ['pay', true],
    ]);
    const left = await dump(await open());
    expect(left).not.toContain(inArgs);
    expect(left).not.toContain(inResult);
  });

  test('members, steps and the leader forget by their own settings', async () => {
    const { url, open } = await freshPlace();
    const saying = (text: string) =>
      tool({ name: 'look', description: 'Looks', inputSchema, execute: () => text });
    const quiet = agent({
      id: 'quiet',
      model: looking(),
      tools: [saying(inResult)],
      storeToolMessages: false,
    });
    const open_ = agent({ id: 'open', model: looking(), tools: [saying(inMember)] });
    const leader = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? {
            toolCalls: ['quiet', 'open'].map((id) => ({
              name: 'delegate_task_to_member',
              arguments: { member_id: id, task: `for ${id}` },
            })),
          }
        : 'Both are done.',
    );
    const service = await startService({
      database: url,
      teams: [team({ id: 't', model: leader, members: [quiet, open_], storeToolMessages: false })],
      workflows: [workflow({ id: 'w', steps: [step({ name: 'first', agent: quiet })] })],
    });
    const sent = await service.submitForStream('/teams/t/runs', {
      message: 'Hi',
      run_id: 'r',
      session_id: 's',
    });
    await sent.over;
    expect(JSON.stringify(sent.events)).toContain(inResult);
    await service.submit('/workflows/w/runs', { message: 'Hi', run_id: 'w', session_id: 'w', stream: false });
    const { body: run } = await service.get('/teams/t/runs/r?session_id=s');
    expect(run.tools.map(({ tool_args, result }: Body) => [tool_args, result])).toEqual([
      [null, null],
      [null, null],
    ]);
    const [ofQuiet, ofOpen] = run.member_responses;
    expect(ofQuiet).toMatchObject({
      content: 'Done.',
      tools: [{ tool_name: 'look', tool_args: null, result: null }],
    });
    expect(ofOpen).toMatchObject({ tools: [{ tool_args: { secret: inArgs }, result: inMember }] });
    expect(await dump(await open())).not.toContain(inResult);
  });

  test('what continues after forgotten calls continues without them, or is refused with the way out', async () => {
    const { url } = await freshPlace();
    let isDown = false;
    const model = scriptedModel(({ messages }) => {
      if (messages.at(-1)?.role !== 'user') return isDown ? { error: new Error('down') } : 'Done.';
      return messages.length > 1 ? 'Continued.' : calls('look');
    });
    const service = await startService({
      database: url,
      agents: [agent({ id: 'a', model, tools: [look], storeToolMessages: false })],
    });
    const start = (runId: string) => service.run('a', { message: 'Hi', run_id: runId, session_id: 's' });
    const go = (runId: string, form: object) =>
      service.submit(`/agents/a/runs/${runId}/continue`, { stream: false, session_id: 's', ...form });
    await start('r');
    expect((await go('r', { input: 'And then?' })).body).toMatchObject({ content: 'Continued.' });
    expect(model.requests.at(-1)!.messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'assistant', 'user'],
    ]);
    const refused = await go('r', { regenerate: true });
    expect([refused.status, refused.body.error_code ?? refused.body.detail]).toEqual([
      409,
      expect.anything(),
    ]);
    expect(refused.text).toContain('continue_from=last_user');
    expect((await go('r', { regenerate: true, continue_from: 'last_user' })).body.content).toBe('Done.');

    isDown = true;
    expect((await start('f')).body.status).toBe('error');
    isDown = false;
    expect((await go('f', {})).status).toBe(409);
    await until('the service is well', async () => (await service.get('/health')).status === 200);
    expect((await go('f', { continue_from: 'last_user' })).body).toMatchObject({ content: 'Done.' });
  });
});
