import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type AgentEvent, agent, Runyard, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { freshSqlite } from '../../support/databases.js';
import type { Body } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const echo = () =>
  agent({
    id: 'echo',
    model: scriptedModel(({ messages }) =>
      messages.map(({ role, content }) => `${role}:${content}`).join('|'),
    ),
  });

/** A tool that waits until the test lets it end, and counts its calls. */
function waiting(requiresConfirmation = false) {
  const { open, opened } = gate();
  let calls = 0;
  const wait = tool({
    name: 'wait',
    requiresConfirmation,
    description: 'Waits',
    inputSchema: z.object({}),
    execute: async () => {
      calls += 1;
      await opened;
      return 'open';
    },
  });
  return { wait, open, calls: () => calls };
}

const waits = { toolCalls: [{ name: 'wait', arguments: {} }] };

async function serviceOn(url: string, options: Omit<ConstructorParameters<typeof Runyard>[0], 'database'>) {
  const app = new Runyard({ database: url, logLevel: 'silent', ...options });
  onTestFinished(() => app.close({ graceMs: 0 }));
  return app;
}

test('a started run has readers that come and go, and a result', async () => {
  const { wait, open } = waiting();
  const clerk = agent({ id: 'clerk', model: scriptedModel([waits, 'Done.']), tools: [wait] });
  const run = await clerk.start('Go', { sessionId: 's', userId: 'ada' });
  expect(run.sessionId).toBe('s');
  for await (const event of run.events()) if (event.event === 'ToolCallStarted') break;
  expect(run.status).toBe('running');
  open();
  const all: AgentEvent[] = [];
  for await (const event of run.events()) all.push(event);
  expect([all[0]?.event, all.at(-1)?.event]).toEqual(['RunStarted', 'RunCompleted']);
  const rest = [];
  for await (const event of run.events({ after: all.length - 2 })) rest.push(event.event_index);
  expect(rest).toEqual([all.length - 1]);
  const output = await run.result();
  expect(output).toMatchObject({ status: 'completed', content: 'Done.', runId: run.runId });
  expect(await run.result()).toEqual(output);
});

test('the result has the type of the schema, and the events that of the kind', async () => {
  const Order = z.object({ item: z.string() });
  const shop = agent({
    id: 'shop',
    model: scriptedModel(['{"item":"tea"}', '{"item":"tea"}']),
    outputSchema: Order,
  });
  const run = await shop.start('Tea');
  const output = await run.result();
  if (output.status === 'completed') expectTypeOf(output.content).toEqualTypeOf<{ item: string } | string>();
  expectTypeOf(run.events()).toEqualTypeOf<AsyncGenerator<AgentEvent, void, void>>();
  const other = await shop.start('Tea', {
    outputSchema: z.object({ item: z.string(), n: z.number().optional() }),
  });
  const typed = await other.result();
  if (typed.status === 'completed' && typeof typed.content !== 'string')
    expectTypeOf(typed.content.n).toEqualTypeOf<number | undefined>();
  const flow = workflow({ id: 'flow', steps: [() => 'made'] });
  // @ts-expect-error a workflow takes no conversation
  await expect(flow.start('go', { messages: [] })).rejects.toThrow('messages is not an option');
  expect(await (await flow.start('go', { runId: 'flow-1' })).result()).toMatchObject({
    runId: 'flow-1',
    content: 'made',
  });
});

test('a run is cancelled by its handle, also while it is paused', async () => {
  const { wait } = waiting();
  const clerk = agent({ id: 'clerk', model: scriptedModel([waits]), tools: [wait] });
  const run = await clerk.start('Go');
  await run.cancel('enough');
  expect(await run.result()).toMatchObject({ status: 'cancelled', content: 'enough' });
  const careful = agent({ id: 'careful', model: scriptedModel([waits]), tools: [waiting(true).wait] });
  const paused = await careful.start('Go');
  expect((await paused.result()).status).toBe('paused');
  await paused.cancel();
  await expect(careful.continue(paused.runId, {})).rejects.toMatchObject({ code: 'cannot_continue' });
});

test('messages stand in the place of the history', async () => {
  const talker = agent({ ...echo().settings, id: 'talker', addHistoryToContext: true });
  await talker.run('stored before', { sessionId: 's' });
  const messages = [
    { role: 'user', content: 'I am Ada.' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
    { role: 'tool', content: 'found', toolCallId: 'c1' },
    { role: 'assistant', content: 'Hello Ada.' },
  ] as const;
  const output = await talker.run('Who am I?', { sessionId: 's', messages });
  expect(output.content).toBe('user:I am Ada.|assistant:|tool:found|assistant:Hello Ada.|user:Who am I?');
  const start = (given: object[]) => talker.start('x', { messages: given as never });
  await expect(start([{ role: 'system', content: 'x' }])).rejects.toThrow("role is 'system'. Give 'user'");
  await expect(start([{ role: 'user', text: 'x' }])).rejects.toThrow('messages[0].text is not an option');
  await expect(start([messages[1]])).rejects.toThrow(
    "agent.start(): messages[0]: the call 'c1' has no result",
  );
  const many = Array.from({ length: 2_001 }, () => messages[0]);
  await expect(start(many)).rejects.toThrow('there are 2001 messages, at most 2000');
});

test('a run id of the caller is used once', async () => {
  const one = echo();
  expect((await one.start('a', { runId: 'mine' })).runId).toBe('mine');
  await expect(one.start('b', { runId: 'mine' })).rejects.toMatchObject({ code: 'run_exists' });
  await expect(one.run('b', { runId: '' })).rejects.toThrow("runId is ''. Give an id");
  // @ts-expect-error only start() takes it
  await expect(one.run('b', { background: true })).rejects.toThrow('background is not an option');
});

test('another process completes a background run, and repeats nothing', async () => {
  const { url } = await freshSqlite();
  const { wait, open, calls } = waiting();
  const done: string[] = [];
  const note = tool({
    name: 'note',
    description: 'Notes',
    inputSchema: z.object({}),
    execute: () => void done.push('noted'),
  });
  const turns = [{ toolCalls: [{ name: 'note', arguments: {} }] }, waits, 'Done.'];
  const made = () =>
    agent({
      id: 'clerk',
      tools: [note, wait],
      // what it says follows from the conversation, as with any model
      model: scriptedModel(({ messages }) => turns[messages.filter(({ role }) => role === 'tool').length]!),
    });
  const clerk = made();
  const first = await serviceOn(url, { agents: [clerk] });
  const run = await clerk.start('Go', { background: true, userId: 'ada' });
  await until('the tool is called', () => calls() === 1);
  const result = run.result();
  result.catch(() => {});
  await first.close({ graceMs: 0 });
  await expect(result).rejects.toMatchObject({ code: 'run_handed_on' });
  open();
  const second = await serviceOn(url, { agents: [made()] });
  await second.listen();
  await until('the run is complete', async () => {
    const body: Body = await (await second.request(`/agents/clerk/runs/${run.runId}`)).json();
    return body.status === 'completed' && body.content === 'Done.';
  });
  expect(done).toEqual(['noted']);
});

test('a run whose call was approved continues in code', async () => {
  const { url } = await freshSqlite();
  const paid: number[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: z.object({ amount: z.number() }),
    approval: 'required',
    execute: ({ amount }) => void paid.push(amount),
  });
  const pays = (amount: number) => ({
    toolCalls: [{ id: `pay-${amount}`, name: 'pay', arguments: { amount } }],
  });
  const payer = agent({ id: 'payer', model: scriptedModel([pays(5), 'Paid.']), tools: [pay] });
  const clerk = agent({ id: 'clerk', model: scriptedModel([pays(7), 'Paid too.']), tools: [pay] });
  const flow = workflow({ id: 'flow', steps: [clerk] });
  const app = await serviceOn(url, { agents: [payer], workflows: [flow] });
  const decide = async (runId: string) => {
    const { data }: Body = await (await app.request(`/approvals?run_id=${runId}`)).json();
    const body = JSON.stringify({ status: 'approved', resolved_by: 'grace' });
    const headers = { 'content-type': 'application/json' };
    await app.request(`/approvals/${data[0].id}/resolve`, { method: 'POST', body, headers });
  };
  const { runId } = await payer.run('Pay 5');
  await expect(payer.continue(runId)).rejects.toThrow('waits for answers');
  await expect(payer.continue(runId, { answers: { 'pay-5': { confirmed: true } } })).rejects.toThrow(
    'waits for an approval',
  );
  await decide(runId);
  expect(await payer.continue(runId)).toMatchObject({ status: 'completed', content: 'Paid.' });
  const paused = await flow.run('Pay 7');
  await expect(flow.continue(paused.runId)).rejects.toThrow('waits for answers');
  await decide(paused.runId);
  expect(await flow.continue(paused.runId)).toMatchObject({ status: 'completed', content: 'Paid too.' });
  expect(paid).toEqual([5, 7]);
});
