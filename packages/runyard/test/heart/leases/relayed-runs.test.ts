import { expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '../../../src/core/ids.js';
import { encodeBlock, LoggedEvent } from '../../../src/core/runs/events/logged-event.js';
import { longTextLength } from '../../../src/core/runs/journal/long-texts.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { RedisNotifications } from '../../../src/platform/engine/redis/notifications.js';
import { RedisRelay } from '../../../src/platform/engine/redis/relay.js';
import { RedisSpace } from '../../../src/platform/engine/redis/space.js';
import { openRedis } from '../../support/redis.js';
import { begin, changed, engineOver, executable, freshStore, gate, note } from '../harness.js';

/** Two processes that Redis connects; the run waits for what the test lets it say. */
async function twoProcesses() {
  const store = await freshStore();
  const identity = newId();
  const said = gate<(say: (text: string) => void) => void>();
  const ended = gate();
  const component = executable('talking', async (context) => {
    context.emit(note('begun'), 'begun');
    const talk = await said.promise;
    talk((text) => context.emit(note(text), `note:${text.slice(0, 20)}`));
    await ended.promise;
    return 'done';
  });
  const process = async (owner: string, journal = store, timers = systemTimers) => {
    const space = new RedisSpace(await openRedis(), identity);
    const notifications = new RedisNotifications(space, { publish: () => {}, subscribe: () => () => {} });
    onTestFinished(() => notifications.close());
    const relay = new RedisRelay(space, notifications);
    const engine = engineOver(journal, [component], { owner, notifications, relay, timers });
    await engine.open();
    return { engine, space };
  };
  const [executing, other] = [await process('executing'), await process('other')];
  const run = await begin(executing.engine, component, { background: true });
  const streams = () => executing.space.connection.client.exists(executing.space.name('events', run.runId));
  return { store, process, executing, other, run, said, ended, streams };
}

test('a run that nobody follows elsewhere sends nothing to Redis', async () => {
  const { executing, run, said, ended, streams } = await twoProcesses();
  const reader = executing.engine.events(run.runId);
  await reader.next();
  said.open((say) => say('hello'));
  await reader.next();
  ended.open();
  await run.ended;
  expect(await streams()).toBe(0);
});

test('events come before they are stored, and the end only when it is stored', async () => {
  const { store, process, run, said, ended } = await twoProcesses();
  let isStored = () => true;
  // to this process, nothing is stored after the beginning
  const blind = await process(
    'blind',
    changed(store, {
      eventBlocks: (...given) =>
        isStored() || given[1] === 0 ? store.eventBlocks(...given) : Promise.resolve([]),
      progress: async (runId) => {
        const progress = await store.progress(runId);
        return isStored() || progress === undefined ? progress : { ...progress, status: 'running' };
      },
    }),
  );
  const reader = blind.engine.events(run.runId);
  expect(await reader.next()).toMatchObject([{ index: 0 }]);
  isStored = () => false;
  const next = reader.next();
  said.open((say) => {
    say('one');
    say('two');
  });
  const seen = [...((await next) ?? [])];
  while (seen.length < 2) seen.push(...((await reader.next()) ?? []));
  expect(seen.map(({ index }) => index)).toEqual([1, 2]);
  ended.open();
  expect(await reader.next()).toMatchObject([{ index: 3, name: 'RunCompleted' }]);
  expect((await store.load(run.runId))?.run.status).toBe('completed');
  isStored = () => true;
  expect(await reader.next()).toBeNull();
});

test('what is too long to be relayed is read from the store, in its place', async () => {
  const { other, run, said, ended } = await twoProcesses();
  const reader = other.engine.events(run.runId);
  await reader.next();
  const long = 'long'.repeat(longTextLength);
  said.open((say) => {
    say('before');
    say(long);
    say('after');
  });
  ended.open();
  const seen: string[] = [];
  for (let events = await reader.next(); events !== null; events = await reader.next())
    for (const event of events) {
      const { content = '' } = (await event.decoded()) as { content?: string };
      seen.push(`${event.index} ${content === long ? 'long' : content}`);
    }
  expect(seen).toEqual(['1 before', '2 long', '3 after', '4 done']);
});

test('a run whose followers have left is relayed no longer, and again for the next one', async () => {
  const { executing, other, run, said, ended, streams } = await twoProcesses();
  const { client } = executing.space.connection;
  const leaving = other.engine.events(run.runId);
  await leaving.next();
  const waiting = leaving.next();
  await expect.poll(streams).toBe(1);
  leaving.close();
  await waiting;
  const key = executing.space.name('events', run.runId);
  await expect.poll(async () => (await client.pubsub('NUMSUB', key))[1]).toBe(0);
  said.open((say) => say('unheard'));
  const back = other.engine.events(run.runId, 1);
  expect(await back.next()).toMatchObject([{ index: 1 }]);
  ended.open();
  expect(await back.next()).toMatchObject([{ index: 2, name: 'RunCompleted' }]);
  expect(await back.next()).toBeNull();
});

/** To this process, nothing is stored of what the run says: it reads that from Redis, or not at all. */
const unstored = (store: Awaited<ReturnType<typeof freshStore>>) =>
  changed(store, {
    eventBlocks: (...given) => (given[1] === 0 ? store.eventBlocks(...given) : Promise.resolve([])),
  });

test('a reader that joins after the last event was relayed has it at once', async () => {
  const { store, process, other, run, said, ended } = await twoProcesses();
  const first = other.engine.events(run.runId);
  await first.next();
  said.open((say) => say('one'));
  expect(await first.next()).toMatchObject([{ index: 1 }]);
  const { engine } = await process('late', unstored(store));
  // it looks at the store alone before it listens
  const late = engine.events(run.runId, 1);
  expect(await late.next()).toMatchObject([{ index: 1 }]);
  ended.open();
  await run.ended;
});

test('a reader that joins while a block reaches nobody has it, and what follows', async () => {
  const { store, process, executing, other, run, said, ended, streams } = await twoProcesses();
  const { client } = executing.space.connection;
  const key = executing.space.name('events', run.runId);
  const listening = async () => (await client.pubsub('NUMSUB', key))[1];
  const leaving = other.engine.events(run.runId);
  await leaving.next();
  const waiting = leaving.next();
  await expect.poll(streams).toBe(1);
  leaving.close();
  await waiting;
  await expect.poll(listening).toBe(0);
  // the answer to the next block is on its way until the test lets it come
  const [sent, answered] = [gate(), gate()];
  const { send } = RedisRelay.prototype;
  const held = vi.spyOn(RedisRelay.prototype, 'send').mockImplementationOnce(async function (
    this: RedisRelay,
    ...given
  ) {
    const followers = await send.apply(this, given);
    sent.open();
    await answered.promise;
    return followers;
  });
  onTestFinished(() => held.mockRestore());
  const talking = gate<(text: string) => void>();
  said.open((say) => {
    say('one');
    talking.open(say);
  });
  await sent.promise;
  const { engine, space } = await process('late', unstored(store));
  const late = engine.events(run.runId, 1);
  const next = late.next();
  await expect.poll(listening).toBe(1);
  // what it announced before this word has been heard when the word is
  const heard = gate();
  executing.space.connection.listen('heard', () => heard.open());
  await expect.poll(() => space.connection.client.publish('heard', '')).toBe(1);
  await heard.promise;
  answered.open();
  expect(await next).toMatchObject([{ index: 1 }]);
  (await talking.promise)('two');
  expect(await late.next()).toMatchObject([{ index: 2 }]);
  ended.open();
  await run.ended;
});

test('a reader polls rarely while Redis carries the events, and as usual after a gap and without Redis', async () => {
  const { store, process, executing, run, said, ended } = await twoProcesses();
  const polls: number[] = [];
  const { engine, space } = await process('following', store, {
    ...systemTimers,
    after: (ms, work) => {
      if (ms === 200 || ms === 2_000) polls.push(ms);
      return systemTimers.after(ms, work);
    },
  });
  const { client } = executing.space.connection;
  const key = executing.space.name('events', run.runId);
  const reader = engine.events(run.runId);
  await reader.next();
  const first = reader.next();
  // what is relayed first is known to the reader: it learns that the run is relayed
  await expect.poll(() => polls.at(-1)).toBe(2_000);
  const talking = gate<(text: string) => void>();
  said.open(talking.open);
  const say = await talking.promise;
  say('one');
  expect(await first).toMatchObject([{ index: 1 }]);
  const second = reader.next();
  expect(polls.at(-1)).toBe(2_000);

  const far = new LoggedEvent(5_000, 'RunContent', null, '{"content":"far","event_index":5000}');
  await client.xadd(key, '5000-1', 'n', 1, 'b', encodeBlock([far]));
  await client.publish(key, 'r');
  await expect.poll(() => polls.at(-1)).toBe(200);
  // the executing process cannot pass what is there: the reader has what is stored
  await client.del(key);
  say('two');
  expect(await second).toMatchObject([{ index: 2 }]);
  const third = reader.next();
  say('three');
  expect(await third).toMatchObject([{ index: 3 }]);
  const last = reader.next();
  await expect.poll(() => polls.at(-1)).toBe(2_000);

  space.connection.client.disconnect(true);
  await expect.poll(() => polls.at(-1)).toBe(200);
  ended.open();
  expect(await last).toMatchObject([{ index: 4, name: 'RunCompleted' }]);
  expect(await reader.next()).toBeNull();
});
