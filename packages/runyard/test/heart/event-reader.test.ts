import { expect, test, vi } from 'vitest';
import type { RunStore } from '../../src/capabilities/runs/storage/store.js';
import type { EventName } from '../../src/core/events/run-event.js';
import { EventLog } from '../../src/core/runs/events/event-log.js';
import { EventReader } from '../../src/core/runs/events/event-reader.js';
import type { EventRelay, Wake } from '../../src/core/runs/events/event-relay.js';
import { encodeBlock, LoggedEvent } from '../../src/core/runs/events/logged-event.js';
import { systemTimers } from '../../src/platform/engine/local/timers.js';
import { aRun, creation, finished, progress } from '../conformance/builders.js';
import { freshStore } from './harness.js';

const block = (firstIndex: number, ...names: EventName[]) => ({
  firstIndex,
  count: names.length,
  payload: encodeBlock(names.map((name, at) => new LoggedEvent(firstIndex + at, name, null, '{}'))),
});

/** Does something between the first read of a reader and its second, whichever they are. */
function between(store: RunStore, work: () => Promise<unknown>): void {
  const { progress: readProgress, eventBlocks } = store;
  let reads = 0;
  const afterFirst = async <T>(read: Promise<T>): Promise<T> => {
    const answer = await read;
    reads += 1;
    if (reads === 1) await work();
    return answer;
  };
  store.progress = (...query) => afterFirst(readProgress.apply(store, query));
  store.eventBlocks = (...query) => afterFirst(eventBlocks.apply(store, query));
}

const sourcesOf = (store: RunStore) => ({ journal: store, timers: systemTimers, liveLog: () => undefined });

async function readAll(store: RunStore, runId: string, from: number, relay?: EventRelay): Promise<string[]> {
  const reader = new EventReader({ ...sourcesOf(store), relay }, runId, from);
  const names: string[] = [];
  for (let events = await reader.next(); events !== null; events = await reader.next())
    names.push(...events.map(({ name }) => name));
  return names;
}

test.each([
  ['completed', { ...finished, nextEventIndex: 3 }],
  ['paused', { status: 'paused', leaseOwner: null, leaseExpiresAt: null, nextEventIndex: 3 }],
] as const)(
  'a run of another process that is %s between two reads is read to its last event',
  async (_status, end) => {
    const store = await freshStore();
    const run = aRun({ nextEventIndex: 1 });
    expect(await store.commit([creation(run, { events: block(0, 'RunStarted') })])).toEqual([]);
    between(store, () =>
      store.commit([progress(run, end, { events: block(1, 'RunContent', 'RunCompleted') })]),
    );
    expect(await readAll(store, run.runId, 1)).toEqual(['RunContent', 'RunCompleted']);
  },
);

test('an event that comes while a reader is about to wait is read at once', async () => {
  const log = new EventLog(0);
  const { read } = log;
  log.read = (index, limit) => {
    // after this look, and before the reader has said that it waits
    queueMicrotask(() => log.nextIndex === 0 && log.append(new LoggedEvent(0, 'RunStarted', null, '{}')));
    return read.call(log, index, limit);
  };
  const store = await freshStore();
  const reader = new EventReader({ journal: store, timers: systemTimers, liveLog: () => log }, 'r', 0);
  expect(await reader.next()).toMatchObject([{ name: 'RunStarted' }]);
});

/** A reader that waits for more of a run that another process executes. The test decides when it polls. */
async function polling() {
  const store = await freshStore();
  const run = aRun({ nextEventIndex: 1 });
  await store.commit([creation(run, { events: block(0, 'RunStarted') })]);
  const polls: (() => void)[] = [];
  const stopped = vi.fn();
  const after = (_ms: number, poll: () => void) => {
    polls.push(poll);
    return stopped;
  };
  const hints: Wake[] = [];
  const follower = { repeat: vi.fn(), end: vi.fn() };
  const follow = (_runId: string, wake: Wake) => {
    hints.push(wake);
    return follower;
  };
  const sources = { ...sourcesOf(store), timers: { ...systemTimers, after }, follow };
  const reader = new EventReader(sources, run.runId, 0);
  expect(await reader.next()).toMatchObject([{ index: 0 }]);
  const next = reader.next();
  await expect.poll(() => polls.length).toBe(1);
  const poll = () => polls.at(-1)?.();
  return { store, run, reader, next, follower, poll, stopped, hint: () => hints[0]?.('store') };
}

test('a reader finds by its polls what no hint announced, asks for hints again, and follows until it is closed', async () => {
  const { store, run, reader, next, follower, poll } = await polling();
  await store.commit([progress(run, { nextEventIndex: 2 }, { events: block(1, 'RunContent') })]);
  poll();
  expect(await next).toMatchObject([{ index: 1 }]);
  expect(follower.repeat).toHaveBeenCalledOnce();
  expect(follower.end).not.toHaveBeenCalled();
  reader.close();
  expect(follower.end).toHaveBeenCalledOnce();
});

test('a reader that is closed while it waits for another process answers, and polls and follows no longer', async () => {
  const { reader, next, follower, stopped } = await polling();
  reader.close();
  expect(await next).toBeNull();
  expect(stopped).toHaveBeenCalledOnce();
  expect(follower.end).toHaveBeenCalledOnce();
});

test('a hint that comes while a reader looks makes it look again', async () => {
  const { store, run, next, poll, hint } = await polling();
  const { progress: readProgress } = store;
  store.progress = async (...query) => {
    store.progress = readProgress;
    const answer = await store.progress(...query);
    await store.commit([progress(run, { nextEventIndex: 2 }, { events: block(1, 'RunContent') })]);
    hint();
    return answer;
  };
  poll();
  expect(await next).toMatchObject([{ index: 1 }]);
});

test('a reader that has read the end of a run follows it no longer', async () => {
  const { store, run, reader, next, follower, poll } = await polling();
  const events = block(1, 'RunCompleted');
  await store.commit([progress(run, { ...finished, nextEventIndex: 2 }, { events })]);
  poll();
  expect(await next).toMatchObject([{ name: 'RunCompleted' }]);
  expect(await reader.next()).toBeNull();
  expect(follower.end).toHaveBeenCalledOnce();
});

/** A reader of a run that another process executes, and what hints do to it. */
async function following(liveLog: () => EventLog | undefined) {
  const store = await freshStore();
  store.progress = async () => ({ status: 'running', nextEventIndex: 0 });
  const followers = new Set<Wake>();
  const follow = (_runId: string, wake: Wake) => {
    followers.add(wake);
    return { repeat: () => {}, end: () => void followers.delete(wake) };
  };
  const reader = new EventReader({ journal: store, timers: systemTimers, liveLog, follow }, 'r', 0);
  const next = reader.next();
  next.catch(() => {});
  await expect.poll(() => followers.size).toBe(1);
  const hint = () => {
    for (const wake of followers) wake('store');
  };
  return { store, followers, next, hint };
}

test('a hint about a run that is live here by now does not keep its reader busy', async () => {
  let log: EventLog | undefined;
  const { next, hint } = await following(() => log);
  log = new EventLog(0);
  let looks = 0;
  const { read } = log;
  log.read = (index, limit) => {
    looks += 1;
    // a reader that does not wait would leave the process no time for anything else
    if (looks > 100) throw new Error('The reader does not wait.');
    return read.call(log, index, limit);
  };
  hint();
  await new Promise((resolve) => setTimeout(resolve, 10));
  log.append(new LoggedEvent(0, 'RunStarted', null, '{}'));
  expect(await next).toMatchObject([{ name: 'RunStarted' }]);
});

test('a reader that cannot read the store follows no longer', async () => {
  const { store, followers, next, hint } = await following(() => undefined);
  store.progress = () => Promise.reject(new Error('away'));
  hint();
  await expect(next).rejects.toThrow('away');
  expect(followers.size).toBe(0);
});

/** A reader, from its first event on, of a run that is live here. */
async function readerOf(log: EventLog) {
  const store = await freshStore();
  return new EventReader({ journal: store, timers: systemTimers, liveLog: () => log }, 'r', 0);
}

const started = (index: number) => new LoggedEvent(index, 'RunStarted', null, '{}');

test('a reader that is closed while it waits for a live run answers, and the log forgets it', async () => {
  const log = new EventLog(0);
  const reader = await readerOf(log);
  const wake = vi.spyOn(reader, 'wake');
  const next = reader.next();
  reader.close();
  expect(await next).toBeNull();
  wake.mockClear();
  log.append(started(0));
  expect(wake).not.toHaveBeenCalled();
});

test('a reader that has read all of a live run answers when the run has ended', async () => {
  const log = new EventLog(0);
  log.append(started(0));
  const reader = await readerOf(log);
  expect(await reader.next()).toMatchObject([{ index: 0 }]);
  log.end();
  expect(await reader.next()).toBeNull();
});

test('a reader behind what is in memory does not wait for another event', async () => {
  const log = new EventLog(5);
  log.append(started(5));
  expect(await (await readerOf(log)).next()).toMatchObject([{ index: 5 }]);
});

test('a reader shows nothing that only the memory of a process has that lost the run', async () => {
  const log = new EventLog(0);
  log.append(started(0));
  const store = await freshStore();
  const logs = [log];
  const sources = { journal: store, timers: systemTimers, liveLog: () => logs.pop() };
  const reader = new EventReader(sources, 'r', 0);
  log.moveAway();
  log.end();
  expect(await reader.next()).toBeNull();
});

test('a reader who comes late is not shown what a process sent and did not store before it lost the run', async () => {
  const store = await freshStore();
  const run = aRun({ nextEventIndex: 1 });
  await store.commit([creation(run, { events: block(0, 'RunStarted') })]);
  const sent = encodeBlock([new LoggedEvent(1, 'RunContent', null, '{"content":"lost","event_index":1}')]);
  const relay: EventRelay = {
    isOpen: true,
    reachesAll: true,
    send: async () => 1,
    wake: () => {},
    blocks: async (_runId, index) => (index > 1 ? [] : [{ firstIndex: 1, count: 1, payload: sent }]),
    follow: () => ({ begun: Promise.resolve(), end: () => {} }),
    onChange: () => () => {},
  };
  const early = new EventReader({ ...sourcesOf(store), relay }, run.runId, 0);
  expect(await early.next()).toMatchObject([{ index: 0 }]);
  expect(await early.next()).toMatchObject([{ index: 1, name: 'RunContent' }]);
  early.close();
  const events = block(10_001, 'RunStarted', 'RunCompleted');
  await store.commit([progress(run, { ...finished, nextEventIndex: 10_003 }, { events })]);
  expect(await readAll(store, run.runId, 0, relay)).toEqual(['RunStarted', 'RunStarted', 'RunCompleted']);
});
