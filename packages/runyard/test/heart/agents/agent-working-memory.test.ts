import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { memoryIdentity } from '../../../src/core/agents/working-memory/known-working-memory.js';
import { InProcessLearnings } from '../../../src/core/learnings/in-process-learnings.js';
import type { LearningChange } from '../../../src/core/learnings/learnings.js';
import type { Run } from '../../../src/core/runs/run.js';
import { type AgentSettings, agent, type JsonObject } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore, gate } from '../harness.js';

const schema = z.object({
  name: z.string().describe('What the user is called'),
  age: z.number().int().min(0),
  tasks: z.array(z.string()).refine((tasks) => !tasks.includes('nothing'), 'nothing is not a task'),
});
const note = (changes: JsonObject) => ({
  toolCalls: [{ name: 'update_working_memory', arguments: changes }],
});

/** An agent whose model takes these turns. */
function noting(
  scope: 'session' | 'user',
  turns: readonly ScriptedTurn[],
  more: Partial<AgentSettings> = {},
) {
  const model = scriptedModel(turns);
  const component = agent({ id: 'a', model, workingMemory: { schema, scope }, ...more });
  const say = (sessionId: string, userId?: string) =>
    component.run('hello', { sessionId, ...(userId !== '' && { userId: userId ?? 'ada' }) });
  const shown = () => /<working_memory>\n([\s\S]*)\n<\/working_memory>/.exec(lastSystem(model))?.[1];
  const results = () =>
    model.requests
      .at(-1)!
      .messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => content);
  return { model, component, say, shown: () => JSON.parse(shown() ?? 'null'), results };
}

function lastSystem({ requests }: ReturnType<typeof scriptedModel>): string {
  return requests.at(-1)?.messages.find(({ role }) => role === 'system')?.content ?? '';
}

test('what the model notes is shown to the next run of the session, and to no other', async () => {
  const { say, shown } = noting('session', [note({ name: 'Ada', age: 36 }), 'ok', 'ok', 'ok']);
  await say('s');
  expect(shown()).toEqual({});
  await say('s');
  expect(shown()).toEqual({ name: 'Ada', age: 36 });
  await say('another');
  expect(shown()).toEqual({});
});

test('the memory of a user is shown in all sessions of that user', async () => {
  const { model, say, shown, results } = noting('user', [
    note({ name: 'Ada', tasks: ['rest'] }),
    'ok',
    note({ name: null, age: 36 }),
    'ok',
    'ok',
    'ok',
    note({ name: 'Nobody' }),
    'ok',
  ]);
  await say('one');
  await say('two');
  expect(JSON.parse(results()[0]!)).toEqual({ working_memory: { tasks: ['rest'], age: 36 } });
  await say('three');
  expect(shown()).toEqual({ tasks: ['rest'], age: 36 });
  await say('four', 'eve');
  expect(shown()).toEqual({});
  await say('five', '');
  expect(lastSystem(model)).not.toContain('working_memory');
  expect(results()[0]).toContain('no known user');
});

test.each([
  ['a field that the schema does not have', { nickname: 'A' }, 'nickname'],
  ['a value of another type', { age: 'old' }, 'age'],
  ['a value out of bounds', { name: 'Ada', age: -1 }, 'age'],
  ['a value that only zod can refuse', { name: 'Ada', tasks: ['nothing'] }, 'nothing is not a task'],
  ['too much', { name: 'x'.repeat(20_001) }, 'at most 20000 characters'],
])('%s is refused, and nothing is changed', async (_, changes, reason) => {
  const { say, results, shown } = noting('session', [note(changes), 'ok', 'ok']);
  const { status } = await say('s');
  expect(status).toBe('completed');
  expect(results()[0]).toContain(reason);
  await say('s');
  expect(shown()).toEqual({});
});

test('two sessions of one user at once lose nothing: a field that another one changed has to be read again', async () => {
  const [reached, released] = [gate(), gate()];
  const { say, results, shown } = noting('user', [
    note({ tasks: ['a'] }),
    'ok',
    {
      ...note({ tasks: ['a', 'c'], name: 'Ada' }),
      waitFor: async () => {
        reached.open();
        await released.promise;
      },
    },
    note({ tasks: ['a', 'b'] }),
    'ok',
    note({ tasks: ['a', 'b', 'c'], name: 'Ada' }),
    'ok',
    'ok',
  ]);
  await say('first');
  const slow = say('slow');
  await reached.promise;
  await say('quick');
  released.open();
  await slow;
  expect(JSON.parse(results()[0]!)).toEqual({
    not_changed: expect.stringContaining('tasks'),
    working_memory: { tasks: ['a', 'b'] },
  });
  await say('last');
  expect(shown()).toEqual({ tasks: ['a', 'b', 'c'], name: 'Ada' });
});

test('what another session noted in the same words is no conflict, and a cleared field is gone', async () => {
  const [reached, released] = [gate(), gate()];
  const { say, results, shown } = noting('user', [
    {
      ...note({ name: 'Ada' }),
      waitFor: async () => {
        reached.open();
        await released.promise;
      },
    },
    note({ name: 'Ada' }),
    'ok',
    'ok',
    note({ name: null, age: 5 }),
    'ok',
    note({ name: 'Bob' }),
    'ok',
    'ok',
  ]);
  const slow = say('slow');
  await reached.promise;
  await say('quick');
  released.open();
  await slow;
  expect(JSON.parse(results()[0]!)).toEqual({ working_memory: { name: 'Ada' } });
  await say('clears');
  expect(JSON.parse(results()[0]!)).toEqual({ working_memory: { age: 5 } });
  await say('again');
  expect(JSON.parse(results()[0]!)).toEqual({ working_memory: { age: 5, name: 'Bob' } });
  await say('last');
  expect(shown()).toEqual({ age: 5, name: 'Bob' });
});

test('a person left what does not fit, and too much: the model can replace the one and shorten the other', async () => {
  const learnings = new InProcessLearnings();
  const { component, model } = noting('user', [
    note({ age: 5 }),
    note({ name: 'y'.repeat(21_000) }),
    note({ name: 'z'.repeat(22_000) }),
    'ok',
  ]);
  const store = await freshStore();
  const engine = engineOver(store, [component], { ports: { learnings } });
  const identity = memoryIdentity({ userId: 'ada', sessionId: 's', kind: 'agent', componentId: 'a' } as Run, {
    schema,
    scope: 'user',
  })!;
  const merge = () => ({ age: 'unknown', name: 'x'.repeat(25_000) });
  await learnings.change({ identity, key: 'person', now: 1, merge });
  await (await begin(engine, component, { userId: 'ada' })).ended;
  const [stored] = await learnings.find('ada', { limit: 1 });
  expect(stored?.content).toEqual({ age: 5, name: 'y'.repeat(21_000) });
  expect(model.requests.at(-1)!.messages.at(-1)!.content).toContain('at most 20000 characters');
});

test('null clears a field in the record itself, also one that may be null', async () => {
  const learnings = new InProcessLearnings();
  const workingMemory = { schema: z.object({ name: z.string().nullable(), age: z.number() }) };
  const { component, model } = noting(
    'session',
    [note({ name: 'Ada', age: 36 }), note({ name: null }), note({ name: null, age: null }), 'ok'],
    { workingMemory },
  );
  const engine = engineOver(await freshStore(), [component], { ports: { learnings } });
  await (await begin(engine, component, { userId: 'ada' })).ended;
  const results = model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
  expect(results.map(({ content }) => JSON.parse(content).working_memory)).toEqual([
    { name: 'Ada', age: 36 },
    { age: 36 },
    {},
  ]);
  expect((await learnings.find('ada', { limit: 1 }))[0]?.content).toEqual({});
});

test('a change whose process died before it was recorded is made once', async () => {
  const turns = [note({ tasks: ['a'] }), 'ok', 'ok'];
  const { component, model } = noting('user', turns);
  const store = await freshStore();
  const learnings = new InProcessLearnings();
  const reached = gate();
  /** Changes, and never answers. */
  class Dying extends InProcessLearnings {
    override get = learnings.get.bind(learnings);
    override async change(change: LearningChange): Promise<void> {
      await learnings.change(change);
      reached.open();
      await new Promise(() => {});
    }
  }
  const dead = engineOver(store, [component], {
    owner: 'dead',
    leaseMs: 1,
    ports: { learnings: new Dying() },
  });
  const handle = await begin(dead, component, { userId: 'ada', background: true });
  await reached.promise;
  const [noted] = await learnings.find('ada', { limit: 1 });
  expect(noted?.content).toEqual({ tasks: ['a'] });
  // a person changes it before the run is taken over
  await learnings.change({
    identity: noted!,
    key: 'person',
    now: 1,
    merge: () => ({ tasks: ['b'], age: 'unknown' }),
  });
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component], { ports: { learnings } });
  await next.recover();
  await next.handle(handle.runId)!.ended;
  const result = model.requests.at(-1)!.messages.at(-1)!.content;
  // what does not fit is not shown
  expect(JSON.parse(result)).toEqual({ working_memory: { tasks: ['b'] } });
});

describe('the setting', () => {
  test.each([
    [{ schema: { type: 'object' } }, 'workingMemory.schema with 0 properties'],
    [{ schema: z.string() }, "workingMemory.schema is a schema of the type 'string'"],
    [{ schema, scope: 'thread' }, "workingMemory.scope is 'thread'"],
    [{ shape: schema }, 'workingMemory.shape is not an option'],
  ])('%j is refused', (workingMemory, reason) => {
    // it does not fit the types
    const settings = { id: 'a', model: 'offline', workingMemory } as unknown as AgentSettings;
    expect(() => agent(settings)).toThrow(reason);
  });

  test('takes a JSON schema', async () => {
    const json = { type: 'object', properties: { city: { type: 'string', enum: ['Rome', 'Paris'] } } };
    const turns = [note({ city: 'Oslo' }), note({ city: 'Rome' }), 'ok', 'ok'];
    const { say, shown } = noting('session', turns, { workingMemory: { schema: json } });
    await say('s');
    await say('s');
    expect(shown()).toEqual({ city: 'Rome' });
  });
});
