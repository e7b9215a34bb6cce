import { describe, expect, test } from 'vitest';
import { InProcessMemories } from '../../../src/core/memory/in-process-memories.js';
import type { MemoryChange, UserMemories } from '../../../src/core/memory/user-memories.js';
import { type AgentSettings, agent, GuardrailRefusal, tool } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate, goOn } from '../harness.js';
import { pausedRun } from '../paused-runs.js';

const add = (memory: string, topics: string[] = []) => ({
  toolCalls: [{ name: 'add_memory', arguments: { memory, topics } }],
});

const say = (content: string) => ({ input: { content, media: [], options: { stream: true } } });

const hang = (reached: () => void): ScriptedTurn => ({
  waitFor: (signal) => {
    reached();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
});

function rememberer(memoryModel: AgentSettings['memoryModel'], more: Partial<AgentSettings> = {}) {
  return agent({
    id: 'a',
    model: scriptedModel(() => 'ok'),
    updateMemoryOnRun: true,
    ...(memoryModel !== undefined && { memoryModel }),
    ...more,
  });
}

async function textsOf(memories: UserMemories, userId = 'ada'): Promise<string[]> {
  return (await memories.list(userId, 100)).map(({ memory }) => memory);
}

/** The memories themselves, and a view of them for a process that dies right after a change took effect. */
function dyingAfterChange() {
  const memories = new InProcessMemories();
  const changed = gate();
  const dying: UserMemories = {
    list: (userId, limit) => memories.list(userId, limit),
    search: (userId, query, limit) => memories.search(userId, query, limit),
    find: (userId, memoryId) => memories.find(userId, memoryId),
    async change(userId, changes, now) {
      await memories.change(userId, changes, now);
      changed.open();
      await new Promise(() => {});
    },
  };
  return { memories, dying, changed: changed.promise };
}

/** Begins a run in a process that dies where the test says, and resumes it in another one. */
async function throughCrash(
  component: ReturnType<typeof agent>,
  first: UserMemories,
  second: UserMemories,
  died: Promise<unknown>,
  between: () => Promise<unknown> = async () => {},
) {
  const store = await freshStore();
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1, ports: { memories: first } });
  const handle = await begin(dead, component, { background: true, userId: 'ada' });
  await died;
  await between();
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component], { ports: { memories: second } });
  await next.recover();
  const { run } = await next.handle(handle.runId)!.ended;
  const names = (await allEvents({ events: () => next.events(handle.runId, 0) })).map(({ name }) => name);
  return { run, names };
}

describe('a run whose process dies while it remembers', () => {
  test('asks the model again when it had not answered, and keeps its answer once', async () => {
    const reached = gate();
    const memoryModel = scriptedModel([hang(reached.open), add('Likes tea', ['drinks'])]);
    const memories = new InProcessMemories();
    const { run, names } = await throughCrash(rememberer(memoryModel), memories, memories, reached.promise);
    expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'ok' } });
    expect(await memories.list('ada', 10)).toMatchObject([
      { memory: 'Likes tea', topics: ['drinks'], agentId: 'a', teamId: null },
    ]);
    expect(names.filter((name) => name.startsWith('Memory'))).toEqual([
      'MemoryUpdateStarted',
      'MemoryUpdateCompleted',
    ]);
  });

  test('stores nothing twice when the change had taken effect', async () => {
    const { memories, dying, changed } = dyingAfterChange();
    const memoryModel = scriptedModel([
      { toolCalls: [...add('Likes tea').toolCalls, ...add('Lives in Rome').toolCalls] },
    ]);
    const { run } = await throughCrash(rememberer(memoryModel), dying, memories, changed);
    expect(run.status).toBe('completed');
    expect((await textsOf(memories)).sort()).toEqual(['Likes tea', 'Lives in Rome']);
    expect(memoryModel.requests).toHaveLength(1);
  });

  test('leaves alone what was changed and added since', async () => {
    const { memories, dying, changed } = dyingAfterChange();
    const wrote = (kind: 'add' | 'update', memoryId: string, memory: string): MemoryChange =>
      kind === 'update'
        ? { kind, memoryId, memory }
        : { kind, memoryId, memory, topics: [], agentId: null, teamId: null, input: null };
    await memories.change('ada', [wrote('add', 'm1', 'Lives in Rome')], 1);
    const memoryModel = scriptedModel([
      {
        toolCalls: [
          { name: 'update_memory', arguments: { memory_id: 'm1', memory: 'Lives in Oslo', topics: [] } },
          { name: 'clear_memory' },
          ...add('Likes tea').toolCalls,
        ],
      },
    ]);
    const component = rememberer(memoryModel, { allowClearMemories: true });
    await throughCrash(component, dying, memories, changed, async () => {
      expect(await textsOf(memories)).toEqual(['Likes tea']);
      const later = Date.now() + 60_000;
      const [tea] = await memories.list('ada', 1);
      await memories.change(
        'ada',
        [wrote('update', tea!.memoryId, 'Likes coffee'), wrote('add', 'm2', 'Has a dog')],
        later,
      );
    });
    expect((await textsOf(memories)).sort()).toEqual(['Has a dog', 'Likes coffee']);
  });

  test.each([
    ['memory', rememberer(scriptedModel([add('Likes tea')]))],
    [
      'model:0',
      agent({
        id: 'a',
        agenticMemory: true,
        model: scriptedModel([
          { toolCalls: [{ name: 'update_user_memory', arguments: { operation: 'add', memory: 'Tea' } }] },
          'ok',
        ]),
      }),
    ],
  ])('finds the answer of the step %s that its changes came from', async (key, component) => {
    const store = await freshStore();
    const found: unknown[] = [];
    const running: string[] = [];
    const memories = new InProcessMemories();
    const looking: UserMemories = Object.assign(Object.create(memories) as InProcessMemories, {
      change: async () => {
        const stored = await store.load(running[0]!);
        found.push(stored?.steps.find((step) => step.key === key)?.status);
      },
    });
    const engine = engineOver(store, [component], { ports: { memories: looking } });
    const handle = await begin(engine, component, { userId: 'ada' });
    running.push(handle.runId);
    await handle.ended;
    expect(found).toEqual(['completed']);
  });

  test('adds once what its own model asked for with a tool', async () => {
    const { memories, dying, changed } = dyingAfterChange();
    const model = scriptedModel([
      { toolCalls: [{ name: 'update_user_memory', arguments: { operation: 'add', memory: 'Likes tea' } }] },
      'Noted.',
    ]);
    const component = agent({ id: 'a', model, agenticMemory: true });
    const { run } = await throughCrash(component, dying, memories, changed);
    expect(run.result?.content).toBe('Noted.');
    expect(await textsOf(memories)).toEqual(['Likes tea']);
    expect(model.requests).toHaveLength(2);
  });
});

describe('remembering', () => {
  test('runs beside the answer, and is done when the run completes', async () => {
    const held = gate();
    const asked = gate();
    const called = gate();
    const memoryModel = scriptedModel(async () => {
      asked.open();
      await held.promise;
      return add('Likes tea');
    });
    // the answer comes only once the memory model is asked
    const model = scriptedModel(async () => {
      called.open();
      await asked.promise;
      return 'ok';
    });
    const memories = new InProcessMemories();
    const component = rememberer(memoryModel, { model });
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories } });
    const handle = await begin(engine, component, { userId: 'ada' });
    // both are asked while neither has answered, in whichever order
    await Promise.all([asked.promise, called.promise]);
    expect(memoryModel.requests).toHaveLength(1);
    expect(model.requests).toHaveLength(1);
    held.open();
    const { run } = await handle.ended;
    expect(run.status).toBe('completed');
    expect(await textsOf(memories)).toEqual(['Likes tea']);
  });

  test('of parallel runs of one user keeps what both said, and shows it to no other user', async () => {
    const both = gate();
    let asked = 0;
    const memoryModel = scriptedModel(async ({ messages }) => {
      asked += 1;
      if (asked === 2) both.open();
      await both.promise;
      return add(/<message>\n(.*)\n/.exec(messages.at(-1)!.content)![1]!);
    });
    const memories = new InProcessMemories();
    const component = rememberer(memoryModel);
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories } });
    const runs = await Promise.all(
      ['Likes tea', 'Has a dog'].map((said) => begin(engine, component, { userId: 'ada', ...say(said) })),
    );
    await Promise.all(runs.map(({ ended }) => ended));
    expect((await textsOf(memories)).sort()).toEqual(['Has a dog', 'Likes tea']);
    await (await begin(engine, component, { userId: 'bob', ...say('Is Bob') })).ended;
    const [seen] = memoryModel.requests.slice(-1);
    expect(seen!.messages.at(-1)!.content).not.toMatch(/tea|dog/);
    expect(await textsOf(memories, 'bob')).toEqual(['Is Bob']);
    expect(await textsOf(memories)).toHaveLength(2);
  });

  test('happens once for a run that pauses and resumes, and is reported at its end', async () => {
    const memoryModel = scriptedModel([add('Likes tea')]);
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      requiresConfirmation: true,
      execute: () => 'paid',
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', id: 'c' }] }, 'Done.']);
    const component = rememberer(memoryModel, { model, tools: [pay] });
    const store = await freshStore();
    const memories = new InProcessMemories();
    const engine = engineOver(store, [component], { ports: { memories } });
    const { run } = await (await begin(engine, component, { userId: 'ada' })).ended;
    expect(run.status).toBe('paused');
    expect(await textsOf(memories)).toEqual(['Likes tea']);
    const paused = pausedRun(store, engine, run.runId);
    expect((await paused.reply({ c: { confirmed: true } })).run).toMatchObject({
      status: 'completed',
      result: { content: 'Done.', metrics: { details: { memory_model: [{}] } } },
    });
    expect(memoryModel.requests).toHaveLength(1);
    const names = (await paused.events()).map(({ event }) => event);
    expect(names.slice(names.lastIndexOf('RunContentCompleted'))).toEqual([
      'RunContentCompleted',
      'MemoryUpdateStarted',
      'MemoryUpdateCompleted',
      'RunCompleted',
    ]);
    expect(names.filter((name) => name.startsWith('Memory'))).toHaveLength(2);
  });

  test('looks at what is said with a request to continue, and not again at what it has seen', async () => {
    const memoryModel = scriptedModel([add('Likes tea'), add('Has a dog'), add('Lives in Rome')]);
    const component = rememberer(memoryModel);
    const first = await component.run('I like tea', { userId: 'ada' });
    const second = await component.continue(first.runId, { input: 'I have a dog' });
    await component.continue(second.runId, { input: 'I live in Rome' });
    await component.continue(second.runId, { regenerate: true });
    const messages = memoryModel.requests.map(
      (request) => /<message>\n(.*)\n/.exec(request.messages.at(-1)!.content)![1],
    );
    expect(messages).toEqual(['I like tea', 'I have a dog', 'I live in Rome']);
    expect(memoryModel.requests[2]!.messages.at(-1)!.content).toMatch(/Has a dog[\s\S]*Likes tea/);
  });

  test('that fails is no failure of the run', async () => {
    const broken = rememberer(scriptedModel([{ error: 'overloaded' }]));
    expect(await broken.run('I like tea', { userId: 'ada' })).toMatchObject({
      status: 'completed',
      content: 'ok',
    });
    const unreachable: UserMemories = {
      list: async () => [],
      search: async () => [],
      find: async () => undefined,
      change: () => Promise.reject(new Error('the disk is full')),
    };
    const component = rememberer(scriptedModel([add('Likes tea')]));
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories: unreachable } });
    const { run } = await (await begin(engine, component, { userId: 'ada' })).ended;
    expect(run).toMatchObject({ status: 'completed', result: { content: 'ok' } });
  });

  test('what the user said is kept though the answer failed', async () => {
    const memories = new InProcessMemories();
    const held = gate();
    const model = scriptedModel(() => {
      held.open();
      return { error: 'overloaded' };
    });
    const component = rememberer(scriptedModel([{ ...add('Likes tea'), waitFor: held.promise }]), { model });
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories } });
    const { run } = await (await begin(engine, component, { userId: 'ada' })).ended;
    expect(run.status).toBe('error');
    expect(await textsOf(memories)).toEqual(['Likes tea']);
  });

  test('what the user said is kept though the answer is refused', async () => {
    const memories = new InProcessMemories();
    const held = gate();
    const component = rememberer(scriptedModel([{ ...add('Likes tea'), waitFor: held.promise }]), {
      postHooks: [
        () => {
          held.open();
          throw new GuardrailRefusal('not that');
        },
      ],
    });
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories } });
    const { run } = await (await begin(engine, component, { userId: 'ada' })).ended;
    expect(run.status).toBe('error');
    expect(await textsOf(memories)).toEqual(['Likes tea']);
  });

  test('what the user said first is kept though what the user added is refused', async () => {
    const memories = new InProcessMemories();
    const held = gate();
    let isAway = true;
    const source = {
      name: 'elsewhere',
      tools: async () => {
        if (isAway) throw new Error('The tools cannot be reached.');
        return [];
      },
      close: async () => {},
    };
    const component = rememberer(scriptedModel([{ ...add('Likes tea'), waitFor: held.promise }]), {
      tools: [source],
      preHooks: [
        ({ content }) => {
          if (content !== 'and a secret') return;
          held.open();
          throw new GuardrailRefusal('not that');
        },
      ],
    });
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories } });
    const begun = await begin(engine, component, { userId: 'ada' });
    const { run, steps } = await begun.ended;
    expect([run.status, await textsOf(memories)]).toEqual(['error', []]);
    isAway = false;
    const kept = component.continuation(run, steps, 'end');
    const again = await engine.retry(run.runId, kept, { ...goOn, turn: kept.turn, input: 'and a secret' });
    expect((await again.ended).run.status).toBe('error');
    expect(await textsOf(memories)).toEqual(['Likes tea']);
  });

  test('ends with a run that is cancelled', async () => {
    const reached = gate();
    const memories = new InProcessMemories();
    const component = rememberer(scriptedModel([hang(reached.open)]));
    const store = await freshStore();
    const engine = engineOver(store, [component], { ports: { memories } });
    const handle = await begin(engine, component, { userId: 'ada' });
    await reached.promise;
    handle.cancel('enough');
    expect((await handle.ended).run.status).toBe('cancelled');
    expect(await textsOf(memories)).toEqual([]);
  });

  test('needs a user: without one nothing is asked, and the log says so', async () => {
    const memoryModel = scriptedModel([]);
    const lines: string[] = [];
    const log = {
      debug: (_: object, message: string) => void lines.push(message),
      info() {},
      warn() {},
      error() {},
    };
    const component = rememberer(memoryModel, { agenticMemory: true });
    const store = await freshStore();
    const engine = engineOver(store, [component], { log });
    const handle = await begin(engine, component);
    expect((await handle.ended).run.status).toBe('completed');
    expect(memoryModel.requests).toHaveLength(0);
    expect(lines).toContain('the run has no user: nothing is remembered');
    const names = (await allEvents(handle)).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('Memory'))).toEqual([]);
  });

  test('beside the tools of the agent comes after them, and sees what they wrote', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'update_user_memory', arguments: { operation: 'add', memory: 'Likes tea' } }] },
      'Noted.',
    ]);
    const memoryModel = scriptedModel(['']);
    const component = rememberer(memoryModel, { model, agenticMemory: true });
    await component.run('Remember that I like tea', { userId: 'ada' });
    expect(memoryModel.requests[0]!.messages.at(-1)!.content).toMatch(/<remembered>\n- \S+: Likes tea\n/);
  });
});
