import { expect, test } from 'vitest';
import { forgetRules } from '../../../src/core/agents/forgetting/forget-rules.js';
import { longTextLength } from '../../../src/core/runs/journal/long-texts.js';
import { agent, tool } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';

const secret = 'RESULT-9902';

test('a run that is taken over after a crash has its results, and loses them with its end', async () => {
  const [reached, stuck] = [gate(), new Promise(() => {})];
  let isFirst = true;
  const model = scriptedModel(({ messages }) => {
    if (messages.at(-1)?.role === 'user') return { toolCalls: [{ name: 'look' }] };
    if (!isFirst) return 'done';
    isFirst = false;
    reached.open();
    return { waitFor: stuck };
  });
  let calls = 0;
  const execute = () => {
    calls += 1;
    return secret + 'x'.repeat(70_000);
  };
  const look = tool({ name: 'look', description: 'Looks', execute });
  const component = agent({ id: 'a', model, tools: [look], storeToolMessages: false });
  const store = await freshStore();
  const dead = engineOver(store, [component], { forgetRules, owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, component, { background: true });
  await reached.promise;
  const stored = async () => {
    const blocks = await store.eventBlocks(runId, 0, 100);
    return JSON.stringify([await store.load(runId), blocks, await store.longTexts(runId)]);
  };
  await expect.poll(stored).toContain(secret);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);

  const next = engineOver(store, [component], { forgetRules });
  await next.recover();
  const events = await allEvents({ events: () => next.events(runId, 0) });
  expect(events.map(({ name }) => name)).toContain('RunCompleted');
  expect(calls).toBe(1);
  expect(model.requests.at(-1)!.messages.at(-1)!.content).toContain(secret);
  await expect.poll(async () => (await store.load(runId))?.run.status).toBe('completed');
  expect(await stored()).not.toContain(secret);
  expect(await store.longTexts(runId)).toEqual([]);
  const replayed = await allEvents({ events: () => next.events(runId, 0) });
  expect(replayed.map(({ index, name }) => [index, name])).toEqual(
    events.map(({ index, name }) => [index, name]),
  );
});

test('a run that is stored only when it has ended leaves no long text that it does not keep', async () => {
  const execute = () => secret + 'x'.repeat(longTextLength);
  const look = tool({ name: 'look', description: 'Looks', execute });
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'done']);
  const component = agent({ id: 'a', model, tools: [look], storeToolMessages: false });
  const store = await freshStore();
  // nothing is written before a caller waits for it
  const timers = { ...systemTimers, after: () => () => {} };
  const handle = await begin(engineOver(store, [component], { forgetRules, timers }), component);
  expect((await handle.ended).run).toMatchObject({ status: 'completed', result: { content: 'done' } });
  expect(model.requests.at(-1)!.messages.at(-1)!.content).toContain(secret);
  expect(await store.longTexts(handle.runId)).toEqual([]);
});
