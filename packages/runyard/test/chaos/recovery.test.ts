import { expect, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import { SseClient } from '../support/clients/sse-client.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { embedded, onEveryDatabase } from './places.js';

const soon = { leaseMs: 1000 };
const names = (run: Body) => run.events.map(({ event }: Body) => event);

onEveryDatabase((place) => {
  test('a killed run resumes after its last finished step', async () => {
    const options = { ...(await place()), settings: soon };
    const { folder } = options;
    const first = await ChaosProcess.start(options);
    const { run_id } = await first.run('planner', {
      message: 'plan: step, peek@gate, step',
      background: 'true',
    });
    await until('the first step is stored and the second has begun', async () => {
      const run = await first.get('planner', run_id);
      return folder.effects('peek').length === 1 && names(run).includes('ToolCallCompleted');
    });
    await first.kill();

    const second = await ChaosProcess.start(options);
    await until('the second step has begun again', () => folder.effects('peek').length === 2);
    folder.release('gate');
    const run = await second.settled('planner', run_id);
    expect(run).toMatchObject({ status: 'completed', content: 'All 3 steps are done.' });
    expect(folder.effects().map(({ name }) => name)).toEqual(['step', 'peek', 'peek', 'step']);
    const [before, after] = folder.effects('peek');
    expect(after?.idempotencyKey).toBe(before?.idempotencyKey);
    expect(after?.pid).not.toBe(before?.pid);
    expect(new Set(folder.effects().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    expect(run.tools.map(({ result }: Body) => result)).toHaveLength(3);
    expect(run.messages.map(({ role }: Body) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
    ]);
  });

  test('the events of a run that was taken over continue where they stopped, and none is sent twice', async () => {
    const options = { ...(await place()), settings: soon };
    const { folder } = options;
    const first = await ChaosProcess.start(options);
    const { run_id } = await first.run('planner', { message: 'plan: step, step@gate', background: 'true' });
    const before = await until('the second step is announced', async () => {
      const run = await first.get('planner', run_id);
      return names(run).filter((name: string) => name === 'ToolCallStarted').length === 2 && run;
    });
    await first.kill();
    folder.release('gate');

    const run = await (await ChaosProcess.start(options)).settled('planner', run_id);
    expect(run.events.slice(0, before.events.length)).toEqual(before.events);
    const indices = run.events.map(({ event_index }: Body) => event_index);
    expect(indices).toEqual([...new Set(indices)].sort((left, right) => Number(left) - Number(right)));
    const once = run.events.filter(
      ({ event }: Body) => event.startsWith('ToolCall') || event === 'ModelRequestCompleted',
    );
    expect(once.map(({ event }: Body) => event)).toEqual([
      'ModelRequestCompleted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ModelRequestCompleted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ModelRequestCompleted',
    ]);
    expect(names(run).slice(-2)).toEqual(['RunContentCompleted', 'RunCompleted']);
    expect(names(run).filter((name: string) => name === 'RunCompleted')).toHaveLength(1);
  });

  test('a run that died while the model spoke says everything once', async () => {
    const options = { ...(await place()), settings: soon };
    const first = await ChaosProcess.start(options);
    const stream = await first.stream('held', { message: 'words' });
    const { run_id } = await stream.event('RunStarted');
    await stream.until(() => stream.content === 'Begun');
    await until('the run is stored', () => first.get('held', run_id));
    await first.kill();
    const second = await ChaosProcess.start(options);
    const listed = async () => {
      const response = await fetch(`${second.url}/agents/held/runs`);
      return ((await response.json()) as Body[]).find((run) => run.run_id === run_id);
    };
    const again = new SseClient(await fetch(`${second.url}/agents/held/runs/${run_id}/events`));
    await again.until(() => again.content === 'BegunBegun', 'the answer is given once more');
    expect(await listed()).toMatchObject({ status: 'running', content: 'Begun' });
    options.folder.release('words');
    const run = await second.settled('held', run_id);
    expect(run).toMatchObject({ status: 'completed', content: 'Begun and done.' });
    expect(names(await listed())).toEqual(names(run));
    expect(names(run).at(-1)).toBe('RunCompleted');
    expect(run.messages.map(({ content }: Body) => content)).toEqual(['words', 'Begun and done.']);
  });

  test('a run whose stream has begun is stored', async () => {
    const options = { ...(await place()), settings: soon };
    const first = await ChaosProcess.start(options);
    const response = await first.post('held', { message: 'words' });
    await first.kill();
    options.folder.release('words');
    const second = await ChaosProcess.start(options);
    const run = await second.settled('held', response.headers.get('x-run-id')!);
    expect(run).toMatchObject({ status: 'completed', content: 'Begun and done.' });
  });

  test('a tool with side effects is never executed twice: the run asks for its outcome', async () => {
    const options = { ...(await place()), settings: soon };
    const { folder } = options;
    const first = await ChaosProcess.start(options);
    const { run_id } = await first.run('planner', { message: 'plan: step, charge@gate', background: 'true' });
    await until('the charge has begun', () => folder.effects('charge').length === 1);
    await first.kill();
    folder.release('gate');

    const second = await ChaosProcess.start(options);
    const run = await second.settled('planner', run_id);
    expect(run.status).toBe('paused');
    expect(names(run).at(-1)).toBe('RunPaused');
    expect(run.events.at(-1).requirements).toHaveLength(1);
    await second.kill();
    const third = await ChaosProcess.start(options);
    expect((await third.settled('planner', run_id)).status).toBe('paused');
    expect(folder.effects('charge')).toHaveLength(1);
    expect(folder.effects('step')).toHaveLength(1);
  });
});

test.runIf(process.platform === 'linux')(
  'the runs of a killed process that its parent has not reaped continue at once',
  async () => {
    // a lease that outlives every test: a process that waits for it waits in vain
    const options = { ...(await embedded()), settings: { leaseMs: 600_000 } };
    const first = await ChaosProcess.start({ ...options, neverReaped: true });
    const { run_id } = await first.run('planner', { message: 'plan: peek@gate', background: 'true' });
    await until('the step has begun', () => options.folder.effects('peek').length === 1);
    await first.makeZombie();
    options.folder.release('gate');
    const second = await ChaosProcess.start(options);
    expect(await second.settled('planner', run_id)).toMatchObject({ status: 'completed' });
  },
);
