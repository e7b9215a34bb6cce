import { expect, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import { SseClient } from '../support/clients/sse-client.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { embedded, onEveryDatabase } from './places.js';
import { playSideBySide } from './side-by-side.js';

const soon = { leaseMs: 1000 };
const names = (run: Body) => run.events.map(({ event }: Body) => event);

onEveryDatabase((place) => {
  test('what was executing in a process that was killed', async () => {
    const options = { ...(await place()), settings: soon };
    const { folder } = options;
    let service!: ChaosProcess;
    const killable = {
      start: async () => {
        service = await ChaosProcess.start(options);
      },
      kill: () => service.kill(),
    };
    const effectsOf = (runId: string, name?: string) =>
      folder.effects(name).filter(({ idempotencyKey }) => idempotencyKey.startsWith(`${runId}:`));

    await playSideBySide(killable, {
      async *'a killed run resumes after its last finished step'() {
        const { run_id } = await service.run('planner', {
          message: 'plan: step, peek@resumed, step',
          background: 'true',
        });
        await until('the first step is stored and the second has begun', async () => {
          const run = await service.get('planner', run_id);
          return effectsOf(run_id, 'peek').length === 1 && names(run).includes('ToolCallCompleted');
        });
        yield;
        await until('the second step has begun again', () => effectsOf(run_id, 'peek').length === 2);
        folder.release('resumed');
        const run = await service.settled('planner', run_id);
        expect(run).toMatchObject({ status: 'completed', content: 'All 3 steps are done.' });
        expect(effectsOf(run_id).map(({ name }) => name)).toEqual(['step', 'peek', 'peek', 'step']);
        const [before, after] = effectsOf(run_id, 'peek');
        expect(after?.idempotencyKey).toBe(before?.idempotencyKey);
        expect(after?.pid).not.toBe(before?.pid);
        expect(new Set(effectsOf(run_id).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
        expect(run.tools.map(({ result }: Body) => result)).toHaveLength(3);
        expect(run.messages.map(({ role }: Body) => role)).toEqual([
          ...['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
        ]);
      },

      async *'the events of a run that was taken over continue where they stopped, and none is sent twice'() {
        const { run_id } = await service.run('planner', {
          message: 'plan: step, step@continued',
          background: 'true',
        });
        const before = await until('the second step is announced', async () => {
          const run = await service.get('planner', run_id);
          return names(run).filter((name: string) => name === 'ToolCallStarted').length === 2 && run;
        });
        yield () => folder.release('continued');
        const run = await service.settled('planner', run_id);
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
      },

      async *'a run that died while the model spoke says everything once'() {
        const stream = await service.stream('held', { message: 'words' });
        const { run_id } = await stream.event('RunStarted');
        await stream.until(() => stream.content === 'Begun');
        await until('the run is stored', () => service.get('held', run_id));
        yield;
        const listed = async () => {
          const response = await fetch(`${service.url}/agents/held/runs`);
          return ((await response.json()) as Body[]).find((run) => run.run_id === run_id);
        };
        const again = new SseClient(await fetch(`${service.url}/agents/held/runs/${run_id}/events`));
        await again.until(() => again.content === 'BegunBegun', 'the answer is given once more');
        expect(await listed()).toMatchObject({ status: 'running', content: 'Begun' });
        folder.release('words');
        const run = await service.settled('held', run_id);
        expect(run).toMatchObject({ status: 'completed', content: 'Begun and done.' });
        expect(names(await listed())).toEqual(names(run));
        expect(names(run).at(-1)).toBe('RunCompleted');
        expect(run.messages.map(({ content }: Body) => content)).toEqual(['words', 'Begun and done.']);
      },

      async *'a tool with side effects is never executed twice: the run asks for its outcome'() {
        const { run_id } = await service.run('planner', {
          message: 'plan: step, charge@charged',
          background: 'true',
        });
        await until('the charge has begun', () => effectsOf(run_id, 'charge').length === 1);
        yield () => folder.release('charged');
        const run = await service.settled('planner', run_id);
        expect(run.status).toBe('paused');
        expect(names(run).at(-1)).toBe('RunPaused');
        expect(run.events.at(-1).requirements).toHaveLength(1);
        yield;
        expect((await service.settled('planner', run_id)).status).toBe('paused');
        expect(effectsOf(run_id, 'charge')).toHaveLength(1);
        expect(effectsOf(run_id, 'step')).toHaveLength(1);
      },
    });
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
