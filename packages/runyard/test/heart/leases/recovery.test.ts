import { describe, expect, test } from 'vitest';
import type { RunContext } from '../../../src/core/runs/context.js';
import { longTextLength } from '../../../src/core/runs/journal/long-texts.js';
import { anyRecord } from '../../../src/core/runs/journal/records.js';
import { allEvents, answers, begin, engineOver, executable, freshStore, gate, note } from '../harness.js';

const retry = answers({ 'wait:two:outcome:1': { outcome: 'retry' } });

/** Two steps; the second waits at a gate the first time, as if its process died there. */
function twoSteps(interrupted?: { policy: 'ask' | 'fail' }, results = ['first', 'second']) {
  const counts = { first: 0, second: 0 };
  const stuck = gate();
  let sticksAt = 1;
  const reached = gate();
  const keys: string[] = [];
  const component = executable('a', async (context: RunContext) => {
    context.emit(note('start'), `start:${context.run.attempt}`);
    const one = await context.step('one', { kind: 'tool', name: 'one', record: anyRecord }, async () => {
      counts.first += 1;
      return results[0];
    });
    context.emit(note('between'), 'between');
    const two = await context.step(
      'two',
      {
        kind: 'tool',
        name: 'two',
        record: anyRecord,
        ...(interrupted && { interrupted: { ...interrupted, lost: (message: string) => message } }),
      },
      async ({ idempotencyKey, signal }) => {
        counts.second += 1;
        keys.push(idempotencyKey);
        if (counts.second === sticksAt) {
          reached.open();
          await untilAborted(stuck.promise, signal);
        }
        return results[1];
      },
    );
    return `${one} ${two}`;
  });
  /** The next execution of the second step does not end either. */
  const stickAgain = () => {
    sticksAt = counts.second + 1;
  };
  return { component, counts, stuck, reached, keys, stickAgain };
}

/** As a well-behaved tool does: it gives up when it is aborted. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    void work.then(resolve);
  });
}

/** Leaves a run behind as a dead process does: begun, written up to its running step, lease over. */
async function abandoned(setUp: ReturnType<typeof twoSteps>) {
  const store = await freshStore();
  const dead = engineOver(store, [setUp.component], { owner: 'dead', leaseMs: 1 });
  const handle = await begin(dead, setUp.component, { background: true });
  await setUp.reached.promise;
  await expect.poll(async () => (await store.load(handle.runId))?.steps.length).toBe(2);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  return { store, handle, dead };
}

describe('a run whose process died', () => {
  test('resumes after its last finished step', async () => {
    const setUp = twoSteps();
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    const { run } = await next.handle(handle.runId)!.ended;
    expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'first second' } });
    expect(setUp.counts).toEqual({ first: 1, second: 2 });
    expect(new Set(setUp.keys).size).toBe(1);
  });

  test('keeps the long texts of each of its executions', async () => {
    const results = ['a', 'b'].map((letter) => letter.repeat(longTextLength));
    const setUp = twoSteps(undefined, results);
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    const { run } = await next.handle(handle.runId)!.ended;
    expect(run.result?.content === results.join(' ')).toBe(true);
    const { steps } = (await store.load(handle.runId))!;
    expect(steps.map(({ output }, at) => output === results[at])).toEqual([true, true]);
    expect(setUp.counts).toEqual({ first: 1, second: 2 });
  });

  test('sends no event twice, and its indices rise past everything that was ever sent', async () => {
    const setUp = twoSteps();
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    const events = await allEvents({ events: () => next.events(handle.runId, 0) });
    const texts = events.map(({ data, name }) =>
      name === 'RunIntermediateContent' ? (JSON.parse(data).content as string) : name,
    );
    expect(texts).toEqual(['start', 'between', 'start', 'RunCompleted']);
    const indices = events.map(({ index }) => index);
    expect(indices.slice(0, 2)).toEqual([0, 1]);
    expect(indices[2]).toBeGreaterThan(1000);
    expect(indices[3]).toBe(indices[2]! + 1);
  });

  test('taken over twice without a word being stored, numbers no two events alike', async () => {
    const setUp = twoSteps();
    const { store, handle } = await abandoned(setUp);
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = () => {
      commits += 1;
      return new Promise(() => {});
    };
    setUp.stickAgain();
    const killed = engineOver(store, [setUp.component], { leaseMs: 1 });
    await killed.recover();
    const [lost] = (await killed.events(handle.runId, 2).next()) ?? [];
    // one that came later would be stored
    await expect.poll(() => commits).toBe(1);
    store.commit = commit;
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    const events = await allEvents({ events: () => next.events(handle.runId, 2) });
    expect(events[0]?.index).toBeGreaterThan(lost!.index);
  });

  test('is taken over by one of many processes, and the old writer is refused', async () => {
    const setUp = twoSteps();
    const { store, handle, dead } = await abandoned(setUp);
    const others = [engineOver(store, [setUp.component]), engineOver(store, [setUp.component])];
    await Promise.all(others.map((engine) => engine.recover()));
    expect(
      others.filter((engine) => engine.handle(handle.runId) !== undefined || engine.liveCount > 0).length,
    ).toBeLessThanOrEqual(1);
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('completed');
    setUp.stuck.open();
    await expect(handle.ended).rejects.toMatchObject({ code: 'run_fenced' });
    expect(dead.liveCount).toBe(0);
    const stored = await store.load(handle.runId);
    expect(stored?.run).toMatchObject({ status: 'completed', attempt: 2 });
    expect(stored?.steps.find(({ key }) => key === 'two')?.attempt).toBe(2);
  });

  test('pauses when its step must not happen twice, and resumes with the answer it is given', async () => {
    const setUp = twoSteps({ policy: 'ask' });
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('paused');
    expect(setUp.counts.second).toBe(1);
    const answered = await next.answer(
      handle.runId,
      answers({ 'wait:two:outcome:1': { outcome: 'done', output: 'it had worked' } }),
    );
    const { run } = await answered.ended;
    expect(run).toMatchObject({ status: 'completed', result: { content: 'first it had worked' } });
    expect(setUp.counts).toEqual({ first: 1, second: 1 });
    await expect(next.answer(handle.runId, retry)).rejects.toMatchObject({
      code: 'cannot_continue',
    });
  });

  test('asked whether to do the step again, does it again', async () => {
    const setUp = twoSteps({ policy: 'ask' });
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('paused');
    const { run } = await (await next.answer(handle.runId, retry)).ended;
    expect(run.result?.content).toBe('first second');
    expect(setUp.counts.second).toBe(2);
  });

  test('interrupted again after the answer to repeat the step, asks again', async () => {
    const setUp = twoSteps({ policy: 'ask' });
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('paused');
    setUp.stickAgain();
    const retried = await next.answer(handle.runId, retry);
    await expect.poll(() => setUp.counts.second).toBe(2);
    await next.stop(1);
    await expect(retried.ended).rejects.toMatchObject({ name: 'RunReleased' });
    await engineOver(store, [setUp.component]).recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('paused');
    expect(setUp.counts.second).toBe(2);
  });

  test('is still read where it was followed, although another process has it now', async () => {
    const setUp = twoSteps();
    const { store, handle } = await abandoned(setUp);
    const followed = allEvents(handle);
    await engineOver(store, [setUp.component]).recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('completed');
    setUp.stuck.open();
    expect((await followed).at(-1)?.name).toBe('RunCompleted');
  });

  test('is found behind any number of runs that no process here can execute', async () => {
    const setUp = twoSteps();
    const store = await freshStore();
    const foreign = executable('foreign', () => new Promise(() => {}));
    const dead = engineOver(store, [], { owner: 'dead', leaseMs: 1 });
    for (let count = 0; count < 40; count += 1) await begin(dead, foreign, { background: true });
    const handle = await begin(dead, setUp.component, { background: true });
    await setUp.reached.promise;
    await expect.poll(async () => (await store.leases.expired(100, 0)).length).toBe(41);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('completed');
  });

  test('continues with the loss of a step that is marked so', async () => {
    const setUp = twoSteps({ policy: 'fail' });
    const { store, handle } = await abandoned(setUp);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    const { run } = await next.handle(handle.runId)!.ended;
    expect(run.result?.content).toContain("stopped while 'two' was at work");
    expect(setUp.counts.second).toBe(1);
  });

  test('is left alone by a process that does not know its component', async () => {
    const setUp = twoSteps();
    const { store, handle } = await abandoned(setUp);
    await engineOver(store, []).recover();
    expect((await store.load(handle.runId))?.run.attempt).toBe(1);
  });

  test('again and again, is given up with a word', async () => {
    const setUp = twoSteps();
    const { store, handle } = await abandoned(setUp);
    for (let attempt = 1; attempt < 5; attempt += 1) {
      const claim = {
        runId: handle.runId,
        attempt,
        owner: 'dead',
        leaseMs: -1,
        indexGap: 0,
      };
      await store.leases.claim(claim);
    }
    await engineOver(store, [setUp.component]).recover();
    expect((await store.load(handle.runId))?.run).toMatchObject({
      status: 'error',
      result: { error: { type: 'interrupted_too_often' } },
    });
  });

  test('of a crashed process on this machine, does not wait for its lease', async () => {
    const setUp = twoSteps();
    const store = await freshStore();
    const dead = engineOver(store, [setUp.component], { owner: 'dead' });
    const handle = await begin(dead, setUp.component, { background: true });
    await setUp.reached.promise;
    await expect.poll(async () => (await store.load(handle.runId))?.steps.length).toBe(2);
    const next = engineOver(store, [setUp.component], { isGone: (owner) => owner === 'dead' });
    await next.open();
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('completed');
  });
});

describe('a stop', () => {
  test('waits for running runs and takes no new ones', async () => {
    const store = await freshStore();
    const open = gate();
    const component = executable('a', async () => {
      await open.promise;
      return 'finished in time';
    });
    const engine = engineOver(store, [component]);
    const handle = await begin(engine, component);
    const stopped = engine.stop(60_000);
    await expect(begin(engine, component)).rejects.toMatchObject({
      code: 'service_stopping',
      status: 503,
    });
    open.open();
    await stopped;
    expect((await handle.ended).run.result?.content).toBe('finished in time');
  });

  test('inside a step that must not happen twice leaves it to the next process to ask', async () => {
    const setUp = twoSteps({ policy: 'ask' });
    const store = await freshStore();
    const engine = engineOver(store, [setUp.component]);
    const handle = await begin(engine, setUp.component);
    await setUp.reached.promise;
    await engine.stop(1);
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('paused');
    expect(setUp.counts.second).toBe(1);
  });

  test('hands over what does not end in time: another process resumes it at once', async () => {
    const setUp = twoSteps();
    const store = await freshStore();
    const engine = engineOver(store, [setUp.component]);
    const handle = await begin(engine, setUp.component);
    const events = allEvents(handle);
    await setUp.reached.promise;
    await engine.stop(1);
    await expect(handle.ended).rejects.toMatchObject({ name: 'RunReleased' });
    expect((await events).map(({ name }) => name)).not.toContain('RunCompleted');
    expect((await store.load(handle.runId))?.run.status).toBe('running');
    const next = engineOver(store, [setUp.component]);
    await next.recover();
    await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('completed');
    expect(setUp.counts.first).toBe(1);
  });
});
