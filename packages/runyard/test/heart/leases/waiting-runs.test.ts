import { describe, expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { silentLog } from '../../../src/core/log.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import type { Run } from '../../../src/core/runs/run.js';
import { aRun, creation } from '../../conformance/builders.js';
import { forEachDatabase } from '../../support/databases.js';
import { allEvents, answers, begin, engineOver, executable, gate, goOn, note } from '../harness.js';

/** Runs that the test ends one by one, by their input. Records which process executed which run. */
function heldRuns() {
  const gates = new Map<string, ReturnType<typeof gate<void>>>();
  const began: string[] = [];
  const gateOf = (name: string) => {
    const known = gates.get(name) ?? gate<void>();
    gates.set(name, known);
    return known;
  };
  const component = executable('held', async (context) => {
    const { content } = context.run.input;
    began.push(`${content} ${context.run.leaseOwner} ${context.entry} ${context.run.attempt}`);
    context.emit(note('begun'), 'begun');
    await gateOf(content).promise;
    return content;
  });
  return { component, began, gateOf };
}

const oneSlot = () => new RunSlots({ executing: 1, waiting: 100 });
const asked = (content: string, more = {}) => ({
  input: { content, media: [], options: { stream: true } },
  ...more,
});

forEachDatabase((_dialect, freshPlace) => {
  async function twoProcesses() {
    const place = await freshPlace();
    const stores = [await place.open(), await place.open()].map((database) => new RunStore(database));
    const held = heldRuns();
    const [warned, informed]: unknown[][] = [[], []];
    const log = {
      ...silentLog,
      warn: (...said: unknown[]) => void warned!.push(said),
      info: (...said: unknown[]) => void informed!.push(said),
    };
    const process = (index: number) =>
      engineOver(stores[index]!, [held.component], { owner: `process ${index}`, slots: oneSlot(), log });
    return { ...held, busy: process(0), idle: process(1), store: stores[0]!, warned, informed };
  }

  test('waits without an owner, and is begun by the process that has a free slot', async () => {
    const { busy, idle, store, component, began, gateOf, warned } = await twoProcesses();
    const first = await begin(busy, component, asked('first', { background: true }));
    const waiting = await begin(busy, component, asked('waiting', { background: true }));
    expect((await store.load(waiting.runId))?.run).toMatchObject({
      status: 'pending',
      attempt: 0,
      leaseOwner: null,
    });
    await busy.open();
    await idle.open();
    await expect.poll(() => began).toEqual(['first process 0 started 1', 'waiting process 1 started 1']);
    gateOf('waiting').open();
    // a caller that waits where it came in learns that another process has it, and follows the store
    await expect(waiting.ended).rejects.toMatchObject({ code: 'run_fenced' });
    const events = await allEvents(waiting);
    expect(events.map(({ index, name }) => `${index} ${name}`)).toEqual([
      '0 RunIntermediateContent',
      '1 RunCompleted',
    ]);
    gateOf('first').open();
    await first.ended;
    expect(began).toHaveLength(2);
    // as often as processes share work: nothing to warn of
    expect(warned).toEqual([]);
  });

  test('is begun where it came in when a slot is free there first, also when it is not stored yet', async () => {
    const { busy, component, began, gateOf } = await twoProcesses();
    const all = [];
    for (const name of ['a', 'b', 'c', 'd'])
      all.push(await begin(busy, component, asked(name, { background: name === 'c' })));
    for (const name of ['a', 'b', 'c', 'd']) gateOf(name).open();
    for (const handle of all)
      expect((await handle.ended).run).toMatchObject({ status: 'completed', attempt: 1 });
    expect(began).toEqual(['a', 'b', 'c', 'd'].map((name) => `${name} process 0 started 1`));
  });

  test('is executed once, whichever process gets it', async () => {
    const { busy, idle, store, component, began, gateOf } = await twoProcesses();
    const names = Array.from({ length: 12 }, (_, index) => `run ${index}`);
    const handles = [];
    for (const name of names) handles.push(await begin(busy, component, asked(name, { background: true })));
    await busy.open();
    await idle.open();
    for (const name of names) gateOf(name).open();
    for (const { runId } of handles)
      await expect
        .poll(async () => (await store.load(runId))?.run)
        .toMatchObject({ status: 'completed', attempt: 1 });
    expect(began.map((line) => line.replace(/ process.*/, '')).sort()).toEqual([...names].sort());
  });

  test('is cancelled from every process', async () => {
    const { busy, idle, store, component, began, gateOf } = await twoProcesses();
    const first = await begin(busy, component, asked('first', { background: true }));
    const wish = (runId: string, sessionId: string) => ({
      runId,
      kind: 'agent' as const,
      componentId: 'held',
      sessionId,
      userId: null,
      reason: 'enough',
      requestedAt: Date.now(),
    });
    for (const engine of [busy, idle]) {
      const waiting = await begin(busy, component, asked('waiting', { background: true }));
      await engine.cancel(waiting.runId, wish(waiting.runId, waiting.run.sessionId));
      expect((await store.load(waiting.runId))?.run.status).toBe('cancelled');
    }
    gateOf('first').open();
    await first.ended;
    expect(began).toHaveLength(1);
  });

  test('is left to others at once when its process stops', async () => {
    const { busy, idle, store, component, began, gateOf, informed } = await twoProcesses();
    const first = await begin(busy, component, asked('first', { background: true }));
    const waiting = await begin(busy, component, asked('waiting'));
    const stopping = busy.stop(60_000);
    await expect(waiting.ended).rejects.toThrow();
    expect((await store.load(waiting.runId))?.run).toMatchObject({ status: 'pending', leaseOwner: null });
    await idle.recover();
    await expect.poll(() => began.at(-1)).toBe('waiting process 1 started 1');
    for (const name of ['first', 'waiting']) gateOf(name).open();
    await first.ended;
    await stopping;
    // it is not one of the runs that the process waits for
    expect(informed).toEqual([
      [{ runs: 1, graceMs: 60_000 }, expect.stringMatching(/^waiting for running runs/)],
    ]);
  });

  test('keeps waiting where nothing can execute it', async () => {
    const { busy, store, component, gateOf, began } = await twoProcesses();
    const first = await begin(busy, component, asked('first', { background: true }));
    const waiting = await begin(busy, component, asked('waiting', { background: true }));
    await engineOver(store, [], { owner: 'stranger' }).recover();
    expect((await store.load(waiting.runId))?.run).toMatchObject({ status: 'pending', attempt: 0 });
    for (const name of ['first', 'waiting']) gateOf(name).open();
    await first.ended;
    expect((await waiting.ended).run.status).toBe('completed');
    expect(began).toHaveLength(2);
  });

  describe('one that continues while all slots are taken', () => {
    /** Sets up a run that asks, fails or is left behind by its process, and then says who continues it. */
    async function resting(how: 'asks' | 'fails' | 'is left behind') {
      const place = await freshPlace();
      const stores = [await place.open(), await place.open()].map((database) => new RunStore(database));
      const continued: string[] = [];
      let broken = true;
      const component = executable('rests', async (context) => {
        const { run, entry } = context;
        context.emit(note(entry), `entry:${run.attempt}`);
        if (run.input.content === 'first') await busyUntil.promise;
        else if (how === 'asks') await context.wait({ key: 'q', kind: 'question', data: {} });
        else if (broken) throw new Error('broken');
        continued.push(`${run.leaseOwner} ${entry} ${run.attempt}`);
        return 'done';
      });
      const busyUntil = gate();
      const process = (index: number) =>
        engineOver(stores[index]!, [component], { owner: `process ${index}`, slots: oneSlot() });
      const [busy, idle] = [process(0), process(1)];
      const store = stores[0]!;
      let run: Run;
      if (how === 'is left behind') {
        run = aRun({ componentId: 'rests', leaseOwner: 'gone', leaseExpiresAt: 1 });
        await store.commit([creation(run)]);
      } else run = (await (await begin(busy, component)).ended).run;
      broken = false;
      const first = await begin(busy, component, asked('first', { background: true }));
      const resume = async () => {
        if (how === 'asks') return busy.answer(run.runId, answers({ 'wait:q': 'yes' }));
        if (how === 'fails') return busy.retry(run.runId, { steps: [], messageIndex: 0, turn: 0 }, goOn);
        return (await busy.resume(run))!;
      };
      return { busy, idle, store, run, first, resume, continued, busyUntil };
    }

    const ways = [['asks'], ['fails'], ['is left behind']] as const;

    test.each(ways)('%s: waits without an owner, and another process continues it', async (how) => {
      const { busy, idle, store, run, first, resume, continued, busyUntil } = await resting(how);
      const waiting = await resume();
      const { attempt } = waiting.run;
      expect((await store.load(run.runId))?.run).toMatchObject({
        status: 'running',
        attempt,
        leaseOwner: null,
      });
      await busy.open();
      await idle.open();
      await expect(waiting.ended).rejects.toMatchObject({ code: 'run_fenced' });
      const entry = how === 'is left behind' ? 'recovered' : 'continued';
      await expect.poll(() => continued).toEqual([`process 1 ${entry} ${attempt + 1}`]);
      const emitted = await allEvents({ events: (from) => busy.events(run.runId, from) });
      expect(emitted.filter(({ name }) => name === 'RunCompleted')).toHaveLength(1);
      busyUntil.open();
      await first.ended;
      expect(continued).toHaveLength(2);
    });

    test.each(ways)('%s: continues where it came in when a slot is free there first', async (how) => {
      const { run, first, resume, continued, busyUntil, store } = await resting(how);
      const waiting = await resume();
      busyUntil.open();
      await first.ended;
      expect((await waiting.ended).run).toMatchObject({ status: 'completed', leaseOwner: null });
      expect((await store.load(run.runId))?.run.status).toBe('completed');
      expect(continued).toHaveLength(2);
      expect(continued.every((line) => line.startsWith('process 0'))).toBe(true);
    });

    test('is cancelled from every process', async () => {
      const { busy, idle, store, run, resume, continued } = await resting('asks');
      await resume();
      const { runId, kind, componentId, sessionId, userId } = run;
      const wish = { runId, kind, componentId, sessionId, userId, reason: 'enough', requestedAt: Date.now() };
      await Promise.all([idle.cancel(runId, wish), busy.cancel(runId, wish)]);
      expect((await store.load(runId))?.run.status).toBe('cancelled');
      expect(continued).toEqual([]);
    });
  });
});
