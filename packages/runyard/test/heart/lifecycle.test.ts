import { describe, expect, test } from 'vitest';
import { runContent } from '../../src/core/agents/agent-events.js';
import { indexGap } from '../../src/core/runs/events/event-log.js';
import { RunFailed } from '../../src/core/runs/executable.js';
import { anyRecord } from '../../src/core/runs/journal/records.js';
import { allEvents, begin, engineOver, executable, freshStore, gate, note } from './harness.js';

describe('a run', () => {
  test('is stored with its steps and its end before any reader receives it', async () => {
    const store = await freshStore();
    const component = executable('a', async (context) =>
      context.step('one', { kind: 'step', name: 'one', record: anyRecord }, async () => 'done'),
    );
    const handle = await begin(engineOver(store, [component]), component);
    const { run } = await handle.ended;
    const stored = await store.load(run.runId);
    expect(stored?.run).toMatchObject({ status: 'completed', result: { content: 'done' }, leaseOwner: null });
    expect(stored?.steps).toMatchObject([{ key: 'one', status: 'completed', output: 'done' }]);
  });

  test('shows its last event only when its end is stored', async () => {
    const store = await freshStore();
    const component = executable('a', async () => 'x');
    const handle = await begin(engineOver(store, [component]), component);
    const reader = handle.events();
    for (let events = await reader.next(); events !== null; events = await reader.next()) {
      if (events.some(({ name }) => name === 'RunCompleted')) {
        expect((await store.load(handle.runId))?.run.status).toBe('completed');
        return;
      }
    }
    expect.unreachable('no end event');
  });

  test('that ended before its caller reads it is read from memory, and not from the store', async () => {
    const store = await freshStore();
    const component = executable('a', async () => 'x');
    const handle = await begin(engineOver(store, [component]), component);
    await handle.ended;
    const elsewhere = engineOver(store, [component]);
    const stored = await allEvents({ events: (from) => elsewhere.events(handle.runId, from) });
    store.eventBlocks = () => expect.unreachable('the store was asked');
    const read = await allEvents(handle);
    expect(read.map(({ data }) => data)).toEqual(stored.map(({ data }) => data));
    expect(read.at(-1)?.name).toBe('RunCompleted');
  });

  test('sends each event with a key once, however many it has sent', async () => {
    const store = await freshStore();
    const component = executable('a', async (context) => {
      for (let index = 0; index < 20; index += 1) {
        for (let times = 0; times < 2; times += 1)
          context.emit(runContent(`${index}`, 'str'), `content:${index}`);
      }
      context.emit(runContent('0', 'str'), 'content:0');
      return 'x';
    });
    const events = await allEvents(await begin(engineOver(store, [component]), component));
    expect(events.filter(({ name }) => name === 'RunContent')).toHaveLength(20);
  });

  test('that throws ends as error, with what its executor knows', async () => {
    const store = await freshStore();
    const component = executable('a', async () => {
      throw new RunFailed({ type: 'model_provider_error', message: 'no credit' });
    });
    const { run } = await (await begin(engineOver(store, [component]), component)).ended;
    expect(run).toMatchObject({
      status: 'error',
      result: { content: 'no credit', error: { type: 'model_provider_error' } },
    });
  });

  test('without a waiting caller is stored as pending before it is acknowledged', async () => {
    const store = await freshStore();
    const open = gate();
    const component = executable('a', () => open.promise);
    const commit = store.commit.bind(store);
    const firstStatuses: (string | undefined)[] = [];
    store.commit = async (writes) => {
      firstStatuses.push(...writes.map(({ insert }) => insert?.status));
      return commit(writes);
    };
    const handle = await begin(engineOver(store, [component]), component, { background: true });
    expect((await store.load(handle.runId))?.run.runId).toBe(handle.runId);
    expect(firstStatuses[0]).toBe('pending');
    open.open();
    await handle.ended;
  });

  test('cancelled, ends at once although its work does not listen, and its late results are refused', async () => {
    const store = await freshStore();
    const never = gate();
    const begun = gate();
    let late: unknown;
    const component = executable('a', async (context) => {
      begun.open();
      await never.promise;
      late = await context
        .step('late', { kind: 'step', name: 'late', record: anyRecord }, async () => 'x')
        .catch((error: Error) => error.name);
    });
    const handle = await begin(engineOver(store, [component]), component);
    await begun.promise;
    handle.cancel('enough');
    const { run } = await handle.ended;
    expect(run.status).toBe('cancelled');
    never.open();
    await expect.poll(() => late).toBe('RunCancelled');
    expect((await store.load(run.runId))?.steps).toEqual([]);
  });

  test('reaches its work with the abort of its signal', async () => {
    const store = await freshStore();
    const begun = gate();
    let reason: unknown;
    const component = executable('a', (context) => {
      begun.open();
      return new Promise((_, reject) => {
        context.signal.addEventListener('abort', () => {
          reason = context.signal.reason;
          reject(reason);
        });
      });
    });
    const handle = await begin(engineOver(store, [component]), component);
    await begun.promise;
    handle.cancel('stop it');
    await handle.ended;
    expect(reason).toMatchObject({ name: 'RunCancelled', reason: 'stop it' });
  });
});

describe('ids that clients choose', () => {
  test('a taken run id is refused before anything is executed', async () => {
    const store = await freshStore();
    let executions = 0;
    const component = executable('a', async () => {
      executions += 1;
    });
    const engine = engineOver(store, [component]);
    await (await begin(engine, component, { runId: 'mine' })).ended;
    await expect(begin(engine, component, { runId: 'mine' })).rejects.toMatchObject({
      code: 'run_exists',
    });
    expect(executions).toBe(1);
  });

  test('two users who name the same new session at once: one gets it, the other is refused before execution', async () => {
    const store = await freshStore();
    const users: (string | null)[] = [];
    const component = executable('a', async (context) => {
      users.push(context.run.userId);
    });
    const engine = engineOver(store, [component]);
    const results = await Promise.allSettled(
      ['ada', 'ben'].map(
        async (userId) => (await begin(engine, component, { sessionId: 'shared', userId })).ended,
      ),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'session_of_another_user' },
    });
    expect(users).toHaveLength(1);
  });
});

test('five parallel runs of a session are all stored, and their changes of the state merge', async () => {
  const store = await freshStore();
  const all = gate();
  let waiting = 0;
  const component = executable('a', async (context) => {
    waiting += 1;
    if (waiting === 5) all.open();
    await all.promise;
    context.state.set(context.run.input.content, true);
  });
  const engine = engineOver(store, [component]);
  const handles = await Promise.all(
    ['1', '2', '3', '4', '5'].map((content) =>
      begin(engine, component, {
        sessionId: 's',
        input: { content, media: [], options: { stream: false } },
      }),
    ),
  );
  await Promise.all(handles.map(({ ended }) => ended));
  for (const { runId } of handles) expect((await store.load(runId))?.run.status).toBe('completed');
  expect((await store.session('s'))?.state).toEqual({ 1: true, 2: true, 3: true, 4: true, 5: true });
});

describe('readers', () => {
  test('that come late, or read twice, see the same events from the index they name', async () => {
    const store = await freshStore();
    const open = gate();
    const component = executable('a', async (context) => {
      for (let index = 0; index < 20; index += 1) context.emit(note(`${index}`), `n${index}`);
      await open.promise;
    });
    const engine = engineOver(store, [component]);
    const handle = await begin(engine, component);
    const early = allEvents(handle);
    open.open();
    const whole = (await early).map(({ data }) => data);
    await handle.ended;
    expect(whole).toHaveLength(21);
    const late = await allEvents({ events: (from) => engine.events(handle.runId, from) });
    expect(late.map(({ data }) => data)).toEqual(whole);
    const tail = await allEvents({ events: () => engine.events(handle.runId, 15) });
    expect(tail.map(({ index }) => index)).toEqual([15, 16, 17, 18, 19, 20]);
  });

  test('who stop reading cost no memory: what they missed comes from the store', async () => {
    const store = await freshStore();
    const count = 10_000;
    const component = executable('a', async (context) => {
      const delta = runContent('', 'str');
      for (let index = 0; index < count; index += 1) {
        context.emitDelta(delta, `${index} ${'x'.repeat(200)}`);
        await context.congestion();
      }
    });
    const handle = await begin(engineOver(store, [component]), component);
    const stopped = handle.events();
    const first = await stopped.next();
    const attentive = allEvents(handle);
    await handle.ended;
    expect(await attentive).toHaveLength(count + 1);
    const rest = [];
    for (let events = await stopped.next(); events !== null; events = await stopped.next())
      rest.push(...events);
    expect([...first!, ...rest].map(({ index }) => index)).toEqual(
      Array.from({ length: count + 1 }, (_, index) => index),
    );
  });

  test('who close are let go even when nothing happens', async () => {
    const store = await freshStore();
    const open = gate();
    const component = executable('a', () => open.promise);
    const handle = await begin(engineOver(store, [component]), component);
    const reader = handle.events();
    const next = reader.next();
    reader.close();
    expect(await next).toBeNull();
    open.open();
    await handle.ended;
  });
});

test('a step begins only when not too much of what the run has sent is waiting to be stored', async () => {
  const store = await freshStore();
  const commit = store.commit.bind(store);
  let storedEvents = 0;
  store.commit = async (writes) => {
    const refused = await commit(writes);
    for (const { events } of writes) storedEvents += events?.count ?? 0;
    return refused;
  };
  const component = executable('a', (context) => {
    const delta = runContent('', 'str');
    for (let index = 0; index <= indexGap / 2; index += 1) context.emitDelta(delta, 'x');
    return context.step('s', { kind: 'tool', name: 's', record: anyRecord }, async () =>
      String(storedEvents),
    );
  });
  const { run } = await (await begin(engineOver(store, [component]), component)).ended;
  expect(run.result?.content).toBe(String(indexGap / 2 + 1));
});

test('work whose beginning is being stored when the run is cancelled does not begin', async () => {
  const store = await freshStore();
  const commit = store.commit.bind(store);
  const storing = gate();
  const stored = gate();
  store.commit = async (writes) => {
    const refused = await commit(writes);
    if (writes.some(({ steps }) => steps.length > 0)) {
      storing.open();
      await stored.promise;
    }
    return refused;
  };
  const came = gate<string>();
  const component = executable('a', (context) =>
    context
      .step(
        'pay',
        { kind: 'step', name: 'pay', record: anyRecord, interrupted: { policy: 'ask', lost: () => null } },
        async () => {
          came.open('began');
          return null;
        },
      )
      .finally(() => came.open('never began')),
  );
  const handle = await begin(engineOver(store, [component]), component);
  await storing.promise;
  handle.cancel('enough');
  stored.open();
  expect((await handle.ended).run.status).toBe('cancelled');
  expect(await came.promise).toBe('never began');
});
