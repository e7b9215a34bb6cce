import { expect, test } from 'vitest';
import { newId } from '../../src/core/ids.js';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { onPostgres } from './places.js';

/** Long enough that a process on a busy machine is not taken for a dead one. */
const settings = { leaseMs: 5000 };
const names = (run: Body) => run.events.map(({ event }: Body) => event);

test('the run of a process that dies resumes in another one', async () => {
  const options = { ...(await onPostgres()), settings };
  const { folder } = options;
  const [first, second] = await Promise.all([ChaosProcess.start(options), ChaosProcess.start(options)]);
  const { run_id } = await first.run('planner', { message: 'plan: step, peek@gate', background: 'true' });
  const seen = await until('the first step is stored and the second has begun', async () => {
    const run = await second.get('planner', run_id);
    return folder.effects('peek').length === 1 && names(run).includes('ToolCallCompleted') && run;
  });
  expect(['pending', 'running']).toContain(seen.status);
  await first.kill();
  await until('the other process does it again', () => folder.effects('peek').length === 2);
  folder.release('gate');
  expect(await second.settled('planner', run_id)).toMatchObject({
    status: 'completed',
    content: 'All 2 steps are done.',
  });
  expect(folder.effects('step')).toHaveLength(1);
  expect(folder.effects('peek').map(({ pid }) => pid)).toEqual([first.pid, second.pid]);
});

test('a process that is alive keeps its runs, however long they take', async () => {
  const options = { ...(await onPostgres()), settings };
  const { folder } = options;
  const [first, second] = await Promise.all([ChaosProcess.start(options), ChaosProcess.start(options)]);
  const { run_id } = await first.run('planner', { message: 'plan: peek@gate', background: 'true' });
  await until('it has begun', () => folder.effects('peek').length > 0);
  // once the run of a dead process was taken over, the time of a lease has passed
  const lost = await second.run('held', { message: 'a while', background: 'true' });
  await second.kill();
  folder.release('a while');
  await first.settled('held', lost.run_id);
  const third = await ChaosProcess.start(options);
  expect(['pending', 'running']).toContain((await third.get('planner', run_id)).status);
  folder.release('gate');
  expect((await third.settled('planner', run_id)).status).toBe('completed');
  expect(folder.effects('peek').map(({ pid }) => pid)).toEqual([first.pid]);
});

test('a process that slept past its lease finds that it may do nothing more', async () => {
  const options = { ...(await onPostgres()), settings };
  const { folder } = options;
  const [sleeper, waker] = await Promise.all([ChaosProcess.start(options), ChaosProcess.start(options)]);
  const stream = await sleeper.stream('planner', { message: 'plan: step@gate, charge@till' });
  const { run_id } = await stream.event('RunStarted');
  await until('the run is stored and its step has begun', async () => {
    return folder.effects('step').length === 1 && (await waker.get('planner', run_id)) !== undefined;
  });
  sleeper.signal('SIGSTOP');
  await until('the other process does it again', () => folder.effects('step').length === 2);
  folder.release('gate');
  await until('the other process has begun to charge', () => folder.effects('charge').length === 1);

  sleeper.signal('SIGCONT');
  const alive = await sleeper.run('echo', { message: 'still here?' });
  expect(alive.content).toBe('Answer to: still here?');
  folder.release('till');
  const run = await waker.settled('planner', run_id);
  expect(run).toMatchObject({ status: 'completed', content: 'All 2 steps are done.' });
  expect(folder.effects('charge').map(({ pid }) => pid)).toEqual([waker.pid]);
  const completions = run.events.filter(({ event }: Body) => event === 'ToolCallCompleted');
  expect(completions).toHaveLength(2);
  const indices = run.events.map(({ event_index }: Body) => event_index);
  expect(indices).toEqual([...new Set(indices)].sort((left, right) => Number(left) - Number(right)));
  // a client that followed the run through the process that lost it still sees it end
  await stream.over;
  expect(stream.names.filter((name) => name === 'RunCompleted')).toHaveLength(1);
});

test('a process that slept past its lease begins no further step, and its caller gets the answer', async () => {
  const options = { ...(await onPostgres()), settings };
  const { folder } = options;
  const [sleeper, waker] = await Promise.all([ChaosProcess.start(options), ChaosProcess.start(options)]);
  const answer = sleeper.run('planner', { message: 'plan: peek@gate, step, peek, step', run_id: newId() });
  await until('the first step has begun', () => folder.effects('peek').length === 1);
  sleeper.signal('SIGSTOP');
  await until('the other process does it again', () => folder.effects('peek').length === 2);
  // the step of the sleeper ends at the moment it wakes, and its next one would begin
  folder.release('gate');
  sleeper.signal('SIGCONT');
  expect(await answer).toMatchObject({ status: 'completed', content: 'All 4 steps are done.' });
  const afterwards = folder.effects().slice(2);
  expect(afterwards.map(({ name }) => name)).toEqual(['step', 'peek', 'step']);
  expect(new Set(afterwards.map(({ pid }) => pid))).toEqual(new Set([waker.pid]));
});

test('an idle process takes the runs that wait in a busy one, and their callers get the answers', async () => {
  const options = { ...(await onPostgres()), settings: { ...settings, maxConcurrentRuns: 2 } };
  const { folder } = options;
  const busy = await ChaosProcess.start(options);
  const slow = await Promise.all(
    ['a', 'b'].map((gate) => busy.run('planner', { message: `plan: peek@${gate}`, background: 'true' })),
  );
  await until('the slow ones have begun', () => folder.effects('peek').length === 2);
  const waiting = Array.from({ length: 12 }, () => busy.run('planner', { message: 'plan: step' }));
  const stream = await busy.stream('planner', { message: 'plan: charge' });
  const idle = await ChaosProcess.start(options);
  for (const run of await Promise.all(waiting))
    expect(run).toMatchObject({ status: 'completed', content: 'All 1 steps are done.' });
  await stream.over;
  expect(stream.names.filter((name) => ['RunStarted', 'RunCompleted'].includes(name))).toEqual([
    'RunStarted',
    'RunCompleted',
  ]);
  const done = [...folder.effects('step'), ...folder.effects('charge')];
  expect(done).toHaveLength(13);
  expect(new Set(done.map(({ pid }) => pid))).toEqual(new Set([idle.pid]));
  for (const gate of ['a', 'b']) folder.release(gate);
  for (const { run_id } of slow) expect((await idle.settled('planner', run_id)).status).toBe('completed');
});

test('runs that wait in a process that dies begin in another one at once', async () => {
  const options = { ...(await onPostgres()), settings: { leaseMs: 600_000, maxConcurrentRuns: 1 } };
  const { folder } = options;
  const [dying, other] = [await ChaosProcess.start(options), await ChaosProcess.start(options)];
  for (const process of [dying, other])
    await process.run('planner', { message: `plan: peek@${process.pid}`, background: 'true' });
  await until('both are busy', () => folder.effects('peek').length === 2);
  const waiting = await dying.run('planner', { message: 'plan: step', background: 'true' });
  await dying.kill();
  expect((await other.get('planner', waiting.run_id))?.status).toBe('pending');
  folder.release(`${other.pid}`);
  // long before a lease of the dead process could end
  expect((await other.settled('planner', waiting.run_id)).status).toBe('completed');
  expect(folder.effects('step').map(({ pid }) => pid)).toEqual([other.pid]);
});
