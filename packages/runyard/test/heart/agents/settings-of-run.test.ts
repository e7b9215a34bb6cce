import { expect, expectTypeOf, test } from 'vitest';
import { type Agent, agent, knowledge, type RunValues, type Team, team, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';
import { ask } from '../teams/team-runs.js';

const named = (name: string) => tool({ name, description: name, execute: () => `did ${name}` });

test('the model, the tools and the limits can depend on the run', async () => {
  const seen: Partial<RunValues>[] = [];
  const small = scriptedModel(() => 'small', { id: 'small', provider: 'P' });
  const large = scriptedModel(({ tools }) => tools.map(({ name }) => name).join(), {
    id: 'large',
    provider: 'P',
  });
  const helper = agent({
    id: 'helper',
    model: (run) => {
      seen.push(run);
      return run.state.plan === 'pro' ? large : small;
    },
    tools: async ({ userId }) => (userId === 'ada' ? [named('refund'), named('look')] : []),
    limits: ({ metadata }) => ({ turns: metadata.long ? 5 : 1 }),
    dependencies: { city: () => 'Rome' },
    metadata: { owner: 'agent' },
  });
  const first = await helper.run('hello', {
    userId: 'ada',
    sessionState: { plan: 'pro' },
    metadata: { long: 1, owner: 'caller' },
  });
  expect(first).toMatchObject({ status: 'completed', content: 'refund,look' });
  expect(first.metrics.details).toMatchObject({ model: [{ id: 'large', provider: 'P' }] });
  expect(seen[0]).toMatchObject({
    userId: 'ada',
    input: 'hello',
    claims: null,
    state: { plan: 'pro' },
    dependencies: { city: 'Rome' },
    metadata: { long: 1, owner: 'agent' },
  });
  const events: string[] = [];
  for await (const event of helper.stream('hi')) {
    if (event.event === 'RunStarted') events.push(`${event.model} ${event.model_provider}`);
  }
  expect(events).toEqual(['small P']);
  // what is not known before a run is not shown
  expect(helper.model).toBeNull();
  expect([...helper.tools.keys()]).toEqual([]);
  expect(helper.limits).toBeUndefined();
});

test('limits that a function returns hold', async () => {
  const model = scriptedModel(() => ({ toolCalls: [{ name: 'look' }] }));
  const helper = agent({
    id: 'h',
    model,
    tools: [named('look')],
    limits: ({ input }) => ({ turns: input.length }),
  });
  const output = await helper.run('two');
  expect(output).toMatchObject({ status: 'error', error: { code: 'limit_exceeded' } });
  expect(model.requests).toHaveLength(3);
});

test('members and knowledge can depend on the run, and members take a model that a function chose', async () => {
  const model = scriptedModel(({ tools }, call) =>
    call === 0 ? { toolCalls: [ask('writer', 'write')] } : tools.map(({ name }) => name).join() || 'written',
  );
  const base = knowledge({ name: 'Rules' });
  const desk = team({
    id: 'desk',
    model: () => model,
    members: ({ userId }) => [agent({ id: userId === 'ada' ? 'writer' : 'reader' })],
    knowledge: ({ userId }) => (userId === 'ada' ? [base] : []),
    addKnowledgeToContext: false,
  });
  const output = await desk.run('go', { userId: 'ada' });
  expect(output).toMatchObject({
    status: 'completed',
    content: 'delegate_task_to_member,search_knowledge_base',
    memberResponses: [{ content: 'written' }],
  });
  const other = await desk.run('go', { userId: 'bob' });
  expect(other).toMatchObject({ status: 'completed', content: 'delegate_task_to_member' });
  // settings of searches do not matter to a run without knowledge
  const none = agent({
    id: 'none',
    model: 'offline',
    knowledge: () => [],
    addKnowledgeToContext: true,
    agenticKnowledgeFilters: true,
    updateKnowledge: true,
  });
  expect(await none.run('go')).toMatchObject({ status: 'completed' });
});

/** Runs the agent in an engine that dies in a model call, and then in another one over the same store. */
async function diesAndRecovers(component: Agent | Team, reached: Promise<unknown>, stepsBefore: number) {
  const store = await freshStore();
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, component, { background: true });
  await reached;
  await expect.poll(async () => (await store.load(runId))?.steps.length).toBe(stepsBefore);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component]);
  await next.recover();
  await allEvents({ events: () => next.events(runId, 0) });
  return (await store.load(runId))!;
}

test('an execution after a crash calls the functions with the same values and takes the same model and tools', async () => {
  const reached = gate();
  let calls = 0;
  const chosen: unknown[] = [];
  const one = scriptedModel(
    () => {
      calls += 1;
      if (calls === 1) return { toolCalls: [{ name: 'upgrade' }] };
      if (calls > 2) return 'done by one';
      reached.open();
      return { waitFor: new Promise(() => {}) };
    },
    { id: 'one', provider: 'P' },
  );
  const two = scriptedModel(() => 'done by two', { id: 'two', provider: 'P' });
  const upgrade = tool({
    name: 'upgrade',
    description: 'Upgrades',
    execute: (_args, { state }) => state.set('plan', 'pro'),
  });
  const component = agent({
    id: 'a',
    model: ({ state }) => {
      chosen.push(state);
      return state.plan === 'pro' ? two : one;
    },
    tools: () => [upgrade],
  });
  const { run, steps } = await diesAndRecovers(component, reached.promise, 5);
  expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'done by one' } });
  expect(chosen).toEqual([{}, {}]);
  expect(steps.find(({ key }) => key === 'settings')?.output).toMatchObject({
    chosen: { model: { id: 'one', provider: 'P' }, tools: ['upgrade'] },
  });
});

/** A model that never answers its first call. */
function stuckOnce() {
  const reached = gate();
  const model = scriptedModel((_request, call) => {
    if (call > 0) return 'done';
    reached.open();
    return { waitFor: new Promise(() => {}) };
  });
  return { model, reached: reached.promise };
}

const [rules, laws] = [knowledge({ name: 'Rules' }), knowledge({ name: 'Laws' })];
const member = (id: string) => agent({ id, model: 'offline' });

test.each<[string, (first: boolean) => object, string]>([
  ['tools', (first) => ({ tools: () => [named(first ? 'look' : 'drop')] }), 'tools ["look"]'],
  ['knowledge', (first) => ({ knowledge: () => (first ? rules : laws) }), 'knowledge ["Rules"]'],
  ['limits', (first) => ({ limits: () => ({ turns: first ? 3 : 300 }) }), 'limits {"turns":3}'],
  ['members', (first) => ({ members: () => [member(first ? 'writer' : 'reader')] }), 'agent writer'],
])('other %s after a crash end the run as definition_changed', async (name, settings, was) => {
  const { model, reached } = stuckOnce();
  let calls = 0;
  const made: object[] = [settings(true), settings(false)];
  const own = Object.fromEntries(
    Object.keys(made[0]!).map((key) => [key, () => Reflect.get(made[Math.min(calls++, 1)]!, key)()]),
  );
  const component =
    name === 'members' ? team({ id: 'a', model, members: [], ...own }) : agent({ id: 'a', model, ...own });
  const { run } = await diesAndRecovers(component, reached, 3);
  expect(run).toMatchObject({ status: 'error', result: { error: { type: 'definition_changed' } } });
  expect(run.result?.error?.message).toContain(was);
  expect(model.requests).toHaveLength(1);
});

test('after a crash, instructions are those of the first execution, and sources of tools are asked with its values', async () => {
  const reached = gate();
  const model = scriptedModel((_request, call) => {
    if (call === 0) return { toolCalls: [{ name: 'move' }] };
    if (call > 1) return 'done';
    reached.open();
    return { waitFor: new Promise(() => {}) };
  });
  const asked: unknown[] = [];
  const written: unknown[] = [];
  const source = {
    name: 'remote',
    readsRun: true,
    // as the headers of an MCP server
    tools: async (_signal: AbortSignal, _log: unknown, run?: RunValues) => {
      asked.push([run?.state, run?.dependencies, run?.metadata]);
      return [named('far')];
    },
    close: async () => {},
  };
  const move = tool({
    name: 'move',
    description: 'Moves',
    execute: (_args, { state }) => state.set('tenant', 'other'),
  });
  const component = agent({
    id: 'a',
    model,
    tools: [source, move],
    sessionState: { tenant: 'own' },
    dependencies: { city: () => `Rome ${asked.length}` },
    metadata: { plan: 'pro' },
    instructions: ({ state }) => `${state.tenant} ${written.push(state)}`,
  });
  const { run } = await diesAndRecovers(component, reached.promise, 6);
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
  const values = [{ tenant: 'own' }, { city: 'Rome 0' }, { plan: 'pro' }];
  expect(asked).toEqual([values, values]);
  const systems = model.requests.map(({ messages }) => messages[0]!.content);
  expect(systems).toEqual(['own 1', 'own 1', 'own 1']);
});

test('functions that return something else after a crash end the run as definition_changed', async () => {
  const reached = gate();
  let calls = 0;
  const stuck = scriptedModel(
    () => {
      reached.open();
      return { waitFor: new Promise(() => {}) };
    },
    { id: 'stuck', provider: 'P' },
  );
  const other = scriptedModel(() => 'never', { id: 'other', provider: 'P' });
  const component = agent({ id: 'a', model: () => (calls++ === 0 ? stuck : other) });
  const { run } = await diesAndRecovers(component, reached.promise, 3);
  expect(run).toMatchObject({ status: 'error', result: { error: { type: 'definition_changed' } } });
  expect(run.result?.error?.message).toContain('model {"id":"stuck","provider":"P"}');
  expect(other.requests).toHaveLength(0);
});

test.each([
  [
    'throws',
    { model: () => Promise.reject(new Error('no plan')) },
    "function that chooses 'model' failed: no plan",
  ],
  [
    'returns nothing',
    { tools: () => undefined as never },
    "function that chooses 'tools' returned undefined",
  ],
  ['returns no model', { model: () => 5 as never }, "Agent 'a': model is 5. Give a model"],
  ['returns two tools of one name', { tools: () => [named('x'), named('x')] }, "two tools named 'x'"],
  ['returns an invalid limit', { limits: () => ({ turns: 0 }) }, 'limits.turns is 0'],
])('a function that %s ends the run with settings_error', async (_, settings, message) => {
  const output = await agent({ id: 'a', model: 'offline', ...settings }).run('hello');
  expect(output).toMatchObject({ status: 'error', error: { code: 'settings_error' } });
  expect(output.content).toContain(message);
});

test('a source that a function made for one run is closed with it, and a shared one with its agent', async () => {
  const closed: string[] = [];
  const source = (name: string) => ({
    name,
    tools: async () => [named(name)],
    close: async () => void closed.push(name),
  });
  const shared = source('shared');
  let runs = 0;
  const helper = agent({
    id: 'h',
    model: 'offline',
    tools: ({ input }) => (input === 'own' ? [source(`own${runs++}`)] : [shared]),
  });
  await helper.run('own');
  await helper.run('own');
  await Promise.all([helper.run('both'), helper.run('both')]);
  expect(closed).toEqual(['own0', 'own1']);
  await helper.close();
  expect(closed).toEqual(['own0', 'own1', 'shared']);
});

/** A source whose tool waits, and then says how often the source was closed. */
function sharedSource() {
  let closed = 0;
  const waits = gate();
  const reached = gate();
  const source = {
    name: 'shared',
    tools: async () => [
      tool({
        name: 'use',
        description: 'Uses',
        execute: async () => {
          reached.open();
          await waits.promise;
          return `closed ${closed} times`;
        },
      }),
    ],
    close: async () => {
      closed += 1;
    },
  };
  return { source, reached: reached.promise, goOn: () => waits.open(), closed: () => closed };
}

const user = (id: string, settings: object) =>
  agent({
    id,
    model: scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return String(last.content);
      return last?.content === 'use' ? { toolCalls: [{ name: 'use' }] } : 'unused';
    }),
    ...settings,
  });

test.each<[string, (source: object) => object]>([
  ['the function of another agent returned', (source) => ({ tools: () => [source] })],
  ['the definition of another agent names', (source) => ({ tools: [source] })],
  ['a definition with another function names', (source) => ({ tools: [source], limits: () => ({}) })],
])('a source that %s is not closed while its run uses it, whatever ends beside it', async (_, others) => {
  const { source, reached, goOn, closed } = sharedSource();
  const using = user('using', others(source));
  const output = using.run('use');
  await reached;
  const ending = user('ending', { tools: () => [source] });
  expect(await ending.run('hello')).toMatchObject({ status: 'completed' });
  const broken = scriptedModel(() => ({ error: new Error('out of order') }));
  const failing = user('failing', { model: broken, tools: () => [source], retries: 0 });
  expect(await failing.run('hello')).toMatchObject({ status: 'error' });
  goOn();
  expect(await output).toMatchObject({ status: 'completed', content: 'closed 0 times' });
  expect(closed()).toBe(0);
  await using.close();
  expect(closed()).toBe(1);
});

test('a source of one run is closed when this run fails', async () => {
  const { source, closed } = sharedSource();
  const model = scriptedModel(() => ({ error: new Error('out of order') }));
  const output = await user('a', { model, tools: () => [source], retries: 0 }).run('use');
  expect(output.status).toBe('error');
  expect(closed()).toBe(1);
});

test('a service lists, shows and runs what depends on the run', async () => {
  const model = scriptedModel(() => 'yes', { id: 'm', provider: 'P' });
  const helper = agent({
    id: 'helper',
    model: () => model,
    tools: () => [],
    knowledge: () => [],
    limits: () => ({}),
    updateMemoryOnRun: true,
    enableSessionSummaries: true,
  });
  const desk = team({ id: 'desk', model: () => model, members: () => [helper] });
  const service = await startService({ agents: [helper], teams: [desk] });
  for (const path of [
    '/agents',
    '/agents/helper',
    '/teams',
    '/teams/desk',
    '/config',
    '/registry',
    '/models',
  ])
    expect([path, (await service.get(path)).status]).toEqual([path, 200]);
  const { body } = await service.run('helper', { message: 'hello' });
  expect(body).toMatchObject({ status: 'completed', content: 'yes', model: 'm', model_provider: 'P' });
  const { body: stored } = await service.get(
    `/agents/helper/runs/${body.run_id}?session_id=${body.session_id}`,
  );
  expect(stored).toMatchObject({ model: 'm', model_provider: 'P' });
  await expect(service.app.toConfig(desk)).rejects.toThrow(
    /members: is a function of the run|model.*is a function/,
  );
});

test('the types of what functions get and return', () => {
  agent({ id: 'a', model: ({ claims, input }) => (claims?.plan === 'pro' ? input : 'offline') });
  agent({
    id: 'a',
    model: 'offline',
    tools: (run) => {
      expectTypeOf(run).toEqualTypeOf<RunValues>();
      return [];
    },
  });
  // @ts-expect-error a number is no model
  agent({ id: 'a', model: () => Promise.resolve(5) });
  // @ts-expect-error a text is no tool
  agent({ id: 'a', model: 'offline', tools: () => ['look'] });
  // @ts-expect-error limits have no such name
  agent({ id: 'a', model: 'offline', limits: () => ({ turn: 5 }) satisfies { turns?: number } });
});
