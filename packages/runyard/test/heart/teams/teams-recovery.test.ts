import { expect, test } from 'vitest';
import { RunReleased } from '../../../src/core/runs/executable.js';
import { agent, team, tool } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore, gate } from '../harness.js';
import { ask, call, runOf } from './team-runs.js';

/** The first time it is called it hangs until its process stops. */
function hanging(...turns: ScriptedTurn[]) {
  const reached = gate();
  const hang: ScriptedTurn = {
    waitFor: (signal) => {
      reached.open();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  return { model: scriptedModel([hang, ...turns]), reached: reached.promise };
}

test('a crash in the middle of a broadcast repeats no member that had finished', async () => {
  const late = hanging('Two');
  const worked = tool({ name: 'work', description: 'Works', execute: () => 'worked' });
  const finished = gate();
  const first = scriptedModel([
    { toolCalls: [call('work', {})] },
    () => {
      finished.open();
      return 'One';
    },
  ]);
  const leader = scriptedModel([{ toolCalls: [call('delegate_task_to_members', { task: 'Go' })] }, 'Both.']);
  const component = team({
    id: 'desk',
    mode: 'broadcast',
    model: leader,
    members: [
      agent({ id: 'first', model: first, tools: [worked] }),
      agent({ id: 'late', model: late.model }),
    ],
  });
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  await Promise.all([late.reached, finished.promise]);
  await handle.stored();
  await engine.stop(0);
  await expect(handle.ended).rejects.toBeInstanceOf(RunReleased);
  const other = engineOver(store, [component]);
  const resumed = await other.resume((await store.load(handle.runId))!.run);
  const { run } = await resumed!.ended;
  expect(run).toMatchObject({ status: 'completed', result: { content: 'Both.' } });
  expect([first.requests.length, late.model.requests.length, leader.requests.length]).toEqual([2, 2, 2]);
  expect(leader.requests[1]!.messages.at(-1)!.content).toBe("Member 'first':\nOne\n\nMember 'late':\nTwo");
  const { look, events } = runOf(store, other, handle.runId);
  expect((await look()).responses).toMatchObject([{ content: 'One' }, { content: 'Two' }]);
  const names = (await events()).map(
    ({ event, agent_id, recovered }) => `${agent_id ?? 'team'} ${event}${recovered ? '!' : ''}`,
  );
  expect(names.filter((name) => name.startsWith('first') && name.includes('Run'))).toEqual([
    'first RunStarted',
    'first RunContent',
    'first RunContent',
    'first RunContentCompleted',
    'first RunCompleted',
  ]);
  expect(names.filter((name) => name.includes('RunStarted'))).toEqual([
    'team TeamRunStarted',
    'first RunStarted',
    'late RunStarted',
    'team TeamRunStarted!',
    'late RunStarted!',
  ]);
  expect(names.filter((name) => name.includes('TeamToolCallStarted'))).toHaveLength(1);
});

test('a run that was continued and then crashed resumes with the member that was answered', async () => {
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, execute: () => 'paid' });
  const reached = gate();
  const paying = (id: string, ...turns: ScriptedTurn[]) =>
    agent({
      id,
      tools: [pay],
      model: scriptedModel([{ toolCalls: [call('pay', {}, `pay ${id}`)] }, ...turns]),
    });
  const a = paying(
    'a',
    {
      waitFor: (signal) => {
        reached.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
    'A paid.',
  );
  const b = paying('b', 'B paid.');
  const leader = scriptedModel([{ toolCalls: [ask('a', 'Pay', 'one'), ask('b', 'Pay', 'two')] }, 'Both.']);
  const component = team({ id: 'desk', model: leader, members: [a, b] });
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  await handle.ended;
  const { open } = await runOf(store, engine, handle.runId).look();
  const going = await engine.answer(handle.runId, {
    answers: new Map([[open[0]!.waitKey, { answer: 'confirmed', confirmed: true }]]),
    continuation: { turn: 1, input: null, options: {} },
  });
  await reached.promise;
  await going.stored();
  await engine.stop(0);
  await expect(going.ended).rejects.toBeInstanceOf(RunReleased);
  const other = engineOver(store, [component]);
  await other.resume((await store.load(handle.runId))!.run).then((resumed) => resumed!.ended);
  const run = runOf(store, other, handle.runId);
  expect((await run.look()).run.status).toBe('paused');
  const names = (await run.events()).map(({ event, agent_id }) => `${agent_id ?? 'team'} ${event}`);
  expect(names.filter((name) => name === 'b RunPaused')).toHaveLength(1);
  expect(names.filter((name) => name === 'team TeamToolCallStarted')).toHaveLength(2);
  const { run: ended } = await run.reply({ 'pay b': { confirmed: true } });
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'Both.' } });
});

test('a crash in the middle of a task resumes with the same list', async () => {
  const late = hanging('Written.');
  const leader = scriptedModel([
    {
      toolCalls: [
        call('create_task', { title: 'find', assignee: 'a' }, 'one'),
        call('create_task', { title: 'write', assignee: 'late', depends_on: ['find'] }, 'two'),
      ],
    },
    { toolCalls: [call('execute_task', { task_id: 'find' }, 'three')] },
    { toolCalls: [call('execute_task', { task_id: 'write' }, 'four')] },
    'All done.',
  ]);
  const found = scriptedModel(['Facts.']);
  const component = team({
    id: 'desk',
    mode: 'tasks',
    model: leader,
    members: [agent({ id: 'a', model: found }), agent({ id: 'late', model: late.model })],
  });
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  await late.reached;
  await handle.stored();
  await engine.stop(0);
  await expect(handle.ended).rejects.toBeInstanceOf(RunReleased);
  const other = engineOver(store, [component]);
  const { run } = await (await other.resume((await store.load(handle.runId))!.run))!.ended;
  expect(run).toMatchObject({ status: 'completed', result: { content: 'All done.' } });
  expect([found.requests.length, leader.requests.length]).toEqual([1, 4]);
  const events = await runOf(store, other, handle.runId).events();
  const tasks = events.filter(({ event }) => event.startsWith('TeamTask'));
  expect(tasks.map(({ event, title, status }) => [event.slice('TeamTask'.length), title, status])).toEqual([
    ['IterationStarted', undefined, undefined],
    ['Created', 'find', 'pending'],
    ['Created', 'write', 'blocked'],
    ['Updated', 'find', 'in_progress'],
    ['Updated', 'find', 'completed'],
    ['Updated', 'write', 'pending'],
    ['Updated', 'write', 'in_progress'],
    ['Updated', 'write', 'completed'],
    ['StateUpdated', undefined, undefined],
    ['IterationCompleted', undefined, undefined],
  ]);
});

test('a failed team is continued with what its members have done', async () => {
  const member = scriptedModel(['Facts.']);
  const leader = scriptedModel([{ toolCalls: [ask('a', 'Find')] }, { error: 'no line' }, 'Done.']);
  const component = team({ id: 'desk', model: leader, members: [agent({ id: 'a', model: member })] });
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const { run, steps } = await (await begin(engine, component)).ended;
  expect(run.status).toBe('error');
  const kept = component.continuation(run, steps, 'end');
  const record = { turn: kept.turn, input: null, options: {} };
  const { run: ended } = await (await engine.retry(run.runId, kept, record)).ended;
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'Done.' } });
  expect(member.requests).toHaveLength(1);
  expect((await runOf(store, engine, run.runId).look()).responses).toMatchObject([{ content: 'Facts.' }]);
});
