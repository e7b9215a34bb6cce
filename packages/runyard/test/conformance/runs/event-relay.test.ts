import { describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../../src/core/ids.js';
import type { EventRelay } from '../../../src/core/runs/events/event-relay.js';
import { encodeBlock, LoggedEvent } from '../../../src/core/runs/events/logged-event.js';
import { relayedEvents } from '../../../src/core/runs/events/relayed-events.js';
import { RedisRelay } from '../../../src/platform/engine/redis/relay.js';
import { RedisSpace } from '../../../src/platform/engine/redis/space.js';
import { openRedis } from '../../support/redis.js';

/** What two processes have that share a database. */
async function replicas() {
  const identity = newId();
  const relay = async () => {
    const space = new RedisSpace(await openRedis(), identity);
    return { space, relay: new RedisRelay(space, { reachesAll: true }) };
  };
  return [await relay(), await relay()] as const;
}

function block(firstIndex: number, count: number, text = 'text') {
  const events = Array.from({ length: count }, (_, position) => {
    const index = firstIndex + position;
    return new LoggedEvent(
      index,
      'RunContent',
      null,
      `{"content":"${text} ${index}","event_index":${index}}`,
    );
  });
  return { firstIndex, count, payload: encodeBlock(events) };
}

async function followed(relay: EventRelay, runId: string) {
  const woken: string[] = [];
  const { begun, end } = relay.follow(runId, (where) => void woken.push(where));
  onTestFinished(end);
  await begun;
  return { woken, end };
}

/** All that is relayed from the index on. */
async function relayed(relay: EventRelay, runId: string, index: number): Promise<LoggedEvent[]> {
  const { events, hasMore } = await relayedEvents(relay, runId, index);
  return hasMore ? [...events, ...(await relayed(relay, runId, index + events.length))] : [...events];
}

const indices = (events: readonly LoggedEvent[]) => events.map(({ index }) => index);

describe('on redis', () => {
  it('carries events to those who follow the run, from any index on', async () => {
    const [one, other] = await replicas();
    const { woken } = await followed(other.relay, 'run');
    expect(await one.relay.send('run', block(0, 3))).toBe(1);
    expect(await one.relay.send('run', block(3, 2))).toBe(1);
    await expect.poll(() => woken).toEqual(['relay', 'relay']);
    expect(indices(await relayed(other.relay, 'run', 0))).toEqual([0, 1, 2, 3, 4]);
    const rest = await relayed(other.relay, 'run', 2);
    expect(rest.map(({ data }) => data)).toEqual(
      [2, 3, 4].map((i) => `{"content":"text ${i}","event_index":${i}}`),
    );
    expect(await relayed(other.relay, 'run', 5)).toEqual([]);
  });

  it('wakes those who follow for the store, and knows when nobody follows', async () => {
    const [one, other] = await replicas();
    const { woken, end } = await followed(other.relay, 'run');
    one.relay.wake('run');
    await expect.poll(() => woken).toEqual(['store']);
    end();
    await expect.poll(() => one.relay.send('run', block(0, 1))).toBe(0);
  });

  it('refuses events of an attempt that another one has overtaken', async () => {
    const [old, current] = await replicas();
    await old.relay.send('run', block(0, 2, 'first'));
    await current.relay.send('run', block(10_002, 2, 'second'));
    await old.relay.send('run', block(2, 2, 'first'));
    expect(await relayed(current.relay, 'run', 2)).toEqual([]);
    expect(indices(await relayed(current.relay, 'run', 10_002))).toEqual([10_002, 10_003]);
  });

  it('takes a run up again where it may have sent the same before', async () => {
    const [one, other] = await replicas();
    await one.relay.send('run', block(0, 4));
    await one.relay.send('run', block(2, 2));
    await one.relay.send('run', block(2, 4));
    expect(indices(await relayed(other.relay, 'run', 0))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('shows nothing beyond a gap', async () => {
    const [one, other] = await replicas();
    for (const first of [0, 2, 5]) await one.relay.send('run', block(first, 2));
    expect(indices(await relayed(other.relay, 'run', 1))).toEqual([1, 2, 3]);
    expect(await relayed(other.relay, 'run', 4)).toEqual([]);
  });

  it('keeps a bounded part of a run for a bounded time', async () => {
    const [{ relay, space }] = await replicas();
    for (let index = 0; index < 300; index++) await relay.send('run', block(index, 1));
    const key = space.name('events', 'run');
    const { client } = space.connection;
    expect(await client.xlen(key)).toBe(128);
    expect(await client.pttl(key)).toBeLessThanOrEqual(60_000);
    expect(await client.pttl(key)).toBeGreaterThan(0);
    expect(await relayed(relay, 'run', 0)).toEqual([]);
    expect(await relayed(relay, 'run', 172)).toHaveLength(128);
  });

  it('gives a reader a part at a time, however much is relayed', async () => {
    const [{ relay }] = await replicas();
    for (let index = 0; index < 100; index++) await relay.send('run', block(index, 1));
    const { events, isGapless, hasMore } = await relayedEvents(relay, 'run', 0);
    expect({ isGapless, hasMore }).toEqual({ isGapless: true, hasMore: true });
    expect(events.length).toBeLessThanOrEqual(8);
    expect(indices(await relayed(relay, 'run', 0))).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  it.each([
    ['no block', { n: '1', b: 'nonsense' }],
    ['a block of another length', { n: '2', b: block(7, 1).payload }],
    ['a block of another place', { n: '1', b: block(8, 1).payload }],
    ['no JSON', { n: '1', b: 'e\tRunContent\t\t{"content":,"event_index":7}' }],
    ['no number', { n: 'x', b: block(7, 1).payload }],
    ['other fields', { a: '1' }],
  ])('leaves to the store what Redis has where it should have events: %s', async (_what, fields) => {
    const [{ relay, space }] = await replicas();
    await relay.send('run', block(5, 2));
    const id = `${'n' in fields && fields.n === '2' ? 8 : 7}-0`;
    await space.connection.client.xadd(space.name('events', 'run'), id, ...Object.entries(fields).flat());
    expect(indices(await relayed(relay, 'run', 5))).toEqual([5, 6]);
    expect(await relayed(relay, 'run', 7)).toEqual([]);
  });

  it('leaves to the store what is under a name that is no stream', async () => {
    const [{ relay, space }] = await replicas();
    await space.connection.client.set(space.name('events', 'run'), 'text', 'PX', 60_000);
    expect(await relayed(relay, 'run', 0)).toEqual([]);
    await expect(relay.send('run', block(0, 1))).rejects.toThrow('WRONGTYPE');
  });
});
