import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/core/ids.js';
import type { EngineOptions } from '../../../src/core/runs/engine-options.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import { InProcessNotifications } from '../../../src/core/runs/notifications/in-process-notifications.js';
import type { RunNotifications } from '../../../src/core/runs/notifications/run-notifications.js';
import type { Timers } from '../../../src/core/timers.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { RedisNotifications } from '../../../src/platform/engine/redis/notifications.js';
import { RedisRelay } from '../../../src/platform/engine/redis/relay.js';
import { RedisSpace } from '../../../src/platform/engine/redis/space.js';
import { openRedis } from '../../support/redis.js';
import { allEvents, begin, engineOver, executable, freshStore, gate, note } from '../harness.js';

const readersPollMs = [200, 2_000];

/** Time in which nothing is repeated: neither an engine nor a reader looks by itself. */
const withoutPolls: Timers = {
  ...systemTimers,
  every: () => () => {},
  after: (ms, work) => (readersPollMs.includes(ms) ? () => {} : systemTimers.after(ms, work)),
};

const withoutHints: RunNotifications = { publish: () => {}, subscribe: () => () => {} };

/** What each of several processes is connected with. */
type Connect = () => Promise<Pick<EngineOptions, 'notifications' | 'relay'>>;

function inProcess(notifications: RunNotifications): Connect {
  return async () => ({ notifications });
}

function throughRedis(): Connect {
  const identity = newId();
  // a Redis that a busy machine makes slow is not used for a while; else nothing is sent here
  const meanwhile = new InProcessNotifications();
  return async () => {
    const space = new RedisSpace(await openRedis(), identity);
    const notifications = new RedisNotifications(space, meanwhile);
    onTestFinished(() => notifications.close());
    return { notifications, relay: new RedisRelay(space, notifications) };
  };
}

describe.each([
  ['hints alone', withoutPolls, () => inProcess(new InProcessNotifications())],
  ['polls alone', systemTimers, () => inProcess(withoutHints)],
  ['redis', withoutPolls, throughRedis],
] as const)('by %s', (_by, timers, connecting) => {
  /** Two processes, each with one slot, and a run in the first of them that does not end by itself. */
  async function twoProcesses() {
    const store = await freshStore();
    const connect: Connect = connecting();
    const gates = { first: gate(), second: gate() };
    const began: string[] = [];
    const component = executable('held', async (context) => {
      const { content } = context.run.input;
      began.push(`${content} in ${context.run.leaseOwner}`);
      context.emit(note('begun'), 'begun');
      await gates[content as 'first'].promise;
      return content;
    });
    const followed = new Set<string>();
    const process = async (owner: string) => {
      const slots = new RunSlots({ executing: 1, waiting: 10 });
      const connected = await connect();
      const engine = engineOver(store, [component], { owner, timers, ...connected, slots });
      await engine.open();
      connected.notifications?.subscribe(({ kind, runId }) => {
        if (kind === 'followed') followed.add(`${runId} in ${owner}`);
      });
      // its first look is over
      await engine.recover();
      return engine;
    };
    /** A run that ends before its process has heard of the reader leaves the reader to its polls. */
    const untilFollowed = async (runId: string, owner: string) => {
      if (timers === withoutPolls) await expect.poll(() => [...followed]).toContain(`${runId} in ${owner}`);
    };
    const [busy, idle] = [await process('busy'), await process('idle')];
    const start = (content: string) => {
      const input = { content, media: [], options: { stream: true } };
      return begin(busy, component, { input, background: true });
    };
    return { store, busy, idle, gates, began, untilFollowed, first: await start('first'), start };
  }

  test('a waiting run is claimed by a process with a free slot, and its caller follows it there', async () => {
    const { began, gates, untilFollowed, start } = await twoProcesses();
    const waiting = await start('second');
    await expect.poll(() => began).toEqual(['first in busy', 'second in idle']);
    await expect(waiting.ended).rejects.toMatchObject({ code: 'run_fenced' });
    const events = allEvents(waiting);
    await untilFollowed(waiting.runId, 'idle');
    gates.second.open();
    expect((await events).map(({ name }) => name)).toEqual(['RunIntermediateContent', 'RunCompleted']);
    gates.first.open();
  });

  test('a reader in another process gets the events of a run while they are stored', async () => {
    const { idle, first, gates, untilFollowed } = await twoProcesses();
    const reader = idle.events(first.runId);
    expect((await reader.next())?.map(({ name }) => name)).toEqual(['RunIntermediateContent']);
    const next = reader.next();
    await untilFollowed(first.runId, 'busy');
    gates.first.open();
    expect((await next)?.map(({ name }) => name)).toEqual(['RunCompleted']);
    expect(await reader.next()).toBeNull();
  });

  test('a run is cancelled from another process', async () => {
    const { store, idle, first } = await twoProcesses();
    const { runId, run } = first;
    const request = { runId, kind: run.kind, componentId: run.componentId, sessionId: null, userId: null };
    await idle.cancel(runId, { ...request, reason: 'enough', requestedAt: 0 });
    expect((await first.ended).run.status).toBe('cancelled');
    expect((await store.load(runId))?.run.status).toBe('cancelled');
  });
});
