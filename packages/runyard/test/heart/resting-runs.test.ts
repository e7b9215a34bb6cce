import { describe, expect, test } from 'vitest';
import type { Executable } from '../../src/core/runs/executable.js';
import { RunFailed } from '../../src/core/runs/executable.js';
import { anyRecord } from '../../src/core/runs/journal/records.js';
import type { StepRecord } from '../../src/core/runs/run.js';
import {
  allEvents,
  answers,
  begin,
  engineOver,
  executable,
  freshStore,
  gate,
  goOn,
  note,
} from './harness.js';

/** A component that asks twice and counts what it does with each answer. */
function asking() {
  const done: string[] = [];
  const component = executable('asker', async (context) => {
    context.emit(note(context.entry), `entry:${context.run.attempt}`);
    const settled = await Promise.allSettled(
      ['left', 'right'].map(async (side) => {
        const answer = await context.wait({ key: side, kind: 'question', data: { side } });
        return context.step(side, { kind: 'step', name: side, record: anyRecord }, async () => {
          done.push(`${side}:${answer}`);
          return answer;
        });
      }),
    );
    const refused = settled.find((result) => result.status === 'rejected');
    if (refused !== undefined) throw refused.reason;
    context.emit(note('all'), 'left:all');
    return settled.map((result) => (result as PromiseFulfilledResult<string>).value).join(' ');
  });
  return { component, done };
}

async function paused(component: Executable, more: Parameters<typeof begin>[2] = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component, more);
  const { run } = await handle.ended;
  expect(run).toMatchObject({ status: 'paused', leaseOwner: null });
  return { store, engine, runId: run.runId };
}

describe('a paused run', () => {
  test('executes what was answered, and waits for the rest', async () => {
    const { component, done } = asking();
    const { engine, runId } = await paused(component);
    const first = await engine.answer(runId, answers({ 'wait:left': 'yes' }));
    expect((await first.ended).run.status).toBe('paused');
    expect(done).toEqual(['left:yes']);
    const second = await engine.answer(runId, answers({ 'wait:right': 'no' }));
    expect((await second.ended).run).toMatchObject({ status: 'completed', result: { content: 'yes no' } });
    expect(done).toEqual(['left:yes', 'right:no']);
  });

  test('is continued by one of many simultaneous answers', async () => {
    const { component, done } = asking();
    const { store, engine, runId } = await paused(component);
    const others = [engine, engineOver(store, [component]), engineOver(store, [component])];
    const results = await Promise.allSettled(
      others.map((one) => one.answer(runId, answers({ 'wait:left': 'yes', 'wait:right': 'yes' }))),
    );
    const winners = results.filter((result) => result.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'cannot_continue' });
    await winners[0]!.value.ended;
    expect(done.sort()).toEqual(['left:yes', 'right:yes']);
  });

  test('accepts no answer twice, and none to a question that it did not ask', async () => {
    const { component } = asking();
    const { engine, runId } = await paused(component);
    await (await engine.answer(runId, answers({ 'wait:left': 'yes' }))).ended;
    for (const key of ['wait:left', 'wait:middle'])
      await expect(engine.answer(runId, answers({ [key]: 'again' }))).rejects.toMatchObject({
        code: 'answered_before',
        status: 409,
      });
  });

  test('resumes with rising indices and emits only what is new', async () => {
    const { component } = asking();
    const { store, engine, runId } = await paused(component);
    const handle = await engine.answer(runId, answers({ 'wait:left': 'yes' }));
    await handle.ended;
    await (await engine.answer(runId, answers({ 'wait:right': 'yes' }))).ended;
    const events = await allEvents({ events: (from) => engine.events(runId, from) });
    expect(events.map(({ index }) => index)).toEqual(events.map((_, position) => position));
    const emitted = events.map(({ name, data }) =>
      name === 'RunIntermediateContent' ? JSON.parse(data).content : name,
    );
    // an event about a step of an earlier execution was emitted then, or never
    expect(emitted).toEqual(['started', 'RunPaused', 'continued', 'RunPaused', 'continued', 'RunCompleted']);
    expect((await store.load(runId))?.run.attempt).toBe(3);
  });

  test('cancelled, ends at once, without a process that executes it', async () => {
    const { component, done } = asking();
    const { store, runId } = await paused(component);
    const other = engineOver(store, [component]);
    await other.cancel(runId, cancelRequest(runId));
    expect((await store.load(runId))?.run).toMatchObject({
      status: 'cancelled',
      result: { content: 'enough' },
      leaseOwner: null,
    });
    const events = await allEvents({ events: (from) => other.events(runId, from) });
    expect(events.at(-1)?.name).toBe('RunCancelled');
    await expect(other.answer(runId, answers({ 'wait:left': 'yes' }))).rejects.toMatchObject({
      code: 'cannot_continue',
    });
    expect(done).toEqual([]);
  });

  test('cancelled and answered at once, is one or the other', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { component, done } = asking();
      const { store, engine, runId } = await paused(component);
      const [answered] = await Promise.allSettled([
        engine.answer(runId, answers({ 'wait:left': 'yes', 'wait:right': 'yes' })),
        engineOver(store, [component]).cancel(runId, cancelRequest(runId)),
      ]);
      if (answered.status === 'fulfilled') await answered.value.ended.catch(() => {});
      const stored = await store.load(runId);
      if (answered.status === 'rejected') expect(done).toEqual([]);
      expect(['completed', 'cancelled']).toContain(stored?.run.status);
    }
  });
});

describe('a failed run', () => {
  test('is continued in place with what is kept of its journal', async () => {
    const store = await freshStore();
    let calls = 0;
    const component = executable('a', async (context) => {
      const first = await context.step('one', { kind: 'step', name: 'one', record: anyRecord }, async () => {
        calls += 1;
        return `one${calls}`;
      });
      const said = context.steps().find(({ kind }) => kind === 'continue');
      if (said === undefined) throw new RunFailed({ type: 'broken', message: 'not yet' });
      await context.step('two', { kind: 'step', name: 'two', record: anyRecord }, async () => 'x');
      return `${first} ${context.options.metadata?.from}`;
    });
    const engine = engineOver(store, [component]);
    const { run, steps } = await (await begin(engine, component)).ended;
    expect(run.status).toBe('error');
    const record = { turn: 0, input: null, options: { metadata: { from: 'retry' } } };
    const kept = { steps, messageIndex: 0, turn: 0 };
    const again = await (await engine.retry(run.runId, kept, record)).ended;
    expect(again.run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'one1 retry' } });
    await expect(engine.retry(run.runId, kept, record)).rejects.toMatchObject({ code: 'cannot_continue' });
  });

  test('drops what is not kept', async () => {
    const store = await freshStore();
    let calls = 0;
    const component = executable('a', async (context) => {
      const one = await context.step('one', { kind: 'step', name: 'one', record: anyRecord }, async () => {
        calls += 1;
        return calls;
      });
      if (one === 1) throw new RunFailed({ type: 'broken', message: 'one is not enough' });
      return String(one);
    });
    const engine = engineOver(store, [component]);
    const { run } = await (await begin(engine, component)).ended;
    const again = await (await engine.retry(run.runId, { steps: [], messageIndex: 0, turn: 0 }, goOn)).ended;
    expect(again.run.result?.content).toBe('2');
    const stored = await store.load(run.runId);
    expect(stored?.steps.map(({ key }) => key)).toEqual(['continue:2', 'one']);
  });
});

describe('a copy', () => {
  test('begins with the steps of another run, does not do them again, and replaces it when it completes', async () => {
    const store = await freshStore();
    const seen: StepRecord[][] = [];
    let calls = 0;
    const component = executable('a', async (context) => {
      seen.push([...context.steps()]);
      await context.step('one', { kind: 'step', name: 'one', record: anyRecord }, async () => {
        calls += 1;
        return calls;
      });
      return 'done';
    });
    const engine = engineOver(store, [component]);
    const source = await (await begin(engine, component, { sessionId: 's' })).ended;
    const lineage = { regeneratedFrom: source.run.runId, replaces: source.run.runId };
    const copy = await begin(engine, component, {
      sessionId: 's',
      copy: { steps: source.steps, lineage, continuation: goOn },
    });
    const ended = await copy.ended;
    expect(calls).toBe(1);
    expect(seen[1]).toMatchObject([
      { key: 'one', attempt: 0, runId: copy.runId },
      { key: 'continue:1', attempt: 1 },
    ]);
    expect(ended.run.lineage).toEqual(lineage);
    expect((await store.load(source.run.runId))?.run.status).toBe('regenerated');
    expect((await store.load(copy.runId))?.run).toMatchObject({ status: 'completed', lineage });
  });
});

describe('cancelling', () => {
  test('a run that another process executes', async () => {
    const store = await freshStore();
    const begun = gate();
    const component = executable('a', async () => {
      begun.open();
      await new Promise(() => {});
    });
    const owner = engineOver(store, [component]);
    await owner.open();
    const handle = await begin(owner, component, { background: true });
    await begun.promise;
    await engineOver(store, [component]).cancel(handle.runId, cancelRequest(handle.runId, 'a'));
    expect((await handle.ended).run.status).toBe('cancelled');
  });

  test('a run whose process died', async () => {
    const store = await freshStore();
    const component = executable('a', () => new Promise(() => {}));
    const dead = engineOver(store, [component]);
    const handle = await begin(dead, component, { background: true });
    await dead.stop(1);
    await engineOver(store, [component]).cancel(handle.runId, cancelRequest(handle.runId, 'a'));
    expect((await store.load(handle.runId))?.run.status).toBe('cancelled');
  });

  test('an id that no run has yet: a run that takes it later does nothing', async () => {
    const store = await freshStore();
    let executed = 0;
    const component = executable('a', async () => {
      executed += 1;
    });
    const engine = engineOver(store, [component]);
    await engine.cancel('later', cancelRequest('later', 'a'));
    const { run } = await (await begin(engine, component, { runId: 'later' })).ended;
    expect(run.status).toBe('cancelled');
    expect(executed).toBe(0);
  });

  test('another user’s id: their run is not touched', async () => {
    const store = await freshStore();
    const component = executable('a', async () => 'fine');
    const engine = engineOver(store, [component]);
    await engine.cancel('mine', { ...cancelRequest('mine', 'a'), userId: 'eve' });
    const { run } = await (await begin(engine, component, { runId: 'mine', userId: 'ada' })).ended;
    expect(run.status).toBe('completed');
  });

  test('a run that has ended: it stays as it is', async () => {
    const store = await freshStore();
    const component = executable('a', async () => 'fine');
    const engine = engineOver(store, [component]);
    const { run } = await (await begin(engine, component)).ended;
    await engine.cancel(run.runId, cancelRequest(run.runId, 'a'));
    expect((await store.load(run.runId))?.run).toMatchObject({
      status: 'completed',
      result: { content: 'fine' },
    });
    expect(await store.cancellation(run.runId, 0)).toBeUndefined();
  });
});

function cancelRequest(runId: string, componentId = 'asker') {
  return {
    runId,
    kind: 'agent' as const,
    componentId,
    sessionId: null,
    userId: null,
    reason: 'enough',
    requestedAt: Date.now(),
  };
}

describe('a question that answers itself', () => {
  test('resumes the run when its time has come, in one of the processes', async () => {
    const store = await freshStore();
    const heard: string[] = [];
    const component = executable('a', async (context) => {
      const answer = await context.wait({
        key: 'review',
        kind: 'question',
        data: {},
        dueAt: context.run.createdAt + 20,
      });
      return context.step('after', { kind: 'step', name: 'after', record: anyRecord }, async () => {
        heard.push(JSON.stringify(answer));
        return 'done';
      });
    });
    const engines = [engineOver(store, [component]), engineOver(store, [component])];
    const { run } = await (await begin(engines[0]!, component)).ended;
    expect((await store.load(run.runId))?.run.wakeAt).toBe(run.createdAt + 20);
    await Promise.all(engines.map((engine) => engine.open()));
    await expect.poll(async () => (await store.load(run.runId))?.run.status).toBe('completed');
    expect(heard).toEqual(['{"timed_out":true}']);
    expect((await store.load(run.runId))?.run.wakeAt).toBeNull();
  });

  /** Runs that are due, and an engine that has just loaded them. */
  async function due(count: number, componentIds: readonly string[] = ['a']) {
    const store = await freshStore();
    const components = componentIds.map((id) =>
      executable(id, (context) =>
        context.wait({ key: 'q', kind: 'question', data: {}, dueAt: context.run.createdAt }),
      ),
    );
    const first = engineOver(store, components);
    const runIds: string[] = [];
    for (const component of components)
      for (let made = 0; made < count; made += 1) {
        const { run } = await (await begin(first, component)).ended;
        runIds.push(run.runId);
      }
    return { store, components, runIds };
  }

  test('wakes nothing in a process that stops', async () => {
    const { store, components, runIds } = await due(3);
    const find = store.queue.due.bind(store.queue);
    const found = gate();
    const returned = gate();
    store.queue.due = async (...query) => {
      const runs = await find(...query);
      found.open();
      await returned.promise;
      return runs;
    };
    const engine = engineOver(store, components);
    await engine.open();
    await found.promise;
    const stopped = engine.stop(0);
    returned.open();
    await stopped;
    const after = await store.loadAll(runIds);
    expect(after.map(({ run }) => run.status)).toEqual(['paused', 'paused', 'paused']);
  });

  test('does not queue behind those that no process here can wake', async () => {
    const { store, components, runIds } = await due(101, ['removed', 'kept']);
    await engineOver(store, components.slice(1)).open();
    const statuses = async () => {
      const all = await store.loadAll(runIds);
      return all.map(({ run }) => `${run.componentId} ${run.status}`);
    };
    const expected = ['removed paused', 'kept completed'].flatMap((text) => Array(101).fill(text));
    await expect.poll(statuses).toEqual(expected);
  });
});

test('a cancel that meets a run on its way to its end waits until that is stored', async () => {
  const store = await freshStore();
  const commit = store.commit.bind(store);
  const held = gate();
  const ending = gate();
  store.commit = async (writes) => {
    if (writes.some(({ update, insert }) => (update ?? insert)?.status === 'completed')) {
      ending.open();
      await held.promise;
    }
    return commit(writes);
  };
  const component = executable('a', async () => 'fine');
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  await ending.promise;
  let answered = false;
  const cancelled = engine.cancel(handle.runId, cancelRequest(handle.runId, 'a')).then(() => {
    answered = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(answered).toBe(false);
  held.open();
  await cancelled;
  expect((await store.load(handle.runId))?.run.status).toBe('completed');
});
