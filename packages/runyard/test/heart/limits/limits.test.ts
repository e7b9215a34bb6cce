import { expect, test } from 'vitest';
import { messagesOf } from '../../../src/core/agents/transcript.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import { type AnyLimits, boundsOf } from '../../../src/core/runs/limits/run-limits.js';
import { usageOf } from '../../../src/core/runs/run-usage.js';
import { type AgentSettings, agent, tool } from '../../../src/index.js';
import { type ScriptedAnswer, scriptedModel } from '../../../src/testing.js';
import { answers, begin, engineOver, freshStore, gate, goOn } from '../harness.js';

const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen' });

/** A model that calls the same tool for ever. */
function stubborn(answer: ScriptedAnswer = {}) {
  return scriptedModel(() => ({ toolCalls: [{ name: 'look' }], ...answer }), { id: 'm', provider: 'P' });
}

const prices = { 'p:m': { input: 1, output: 1 } };

async function ran(component: Executable, limits: AnyLimits = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component], { limits, prices });
  const handle = await begin(engine, component);
  await handle.ended;
  return { store, engine, runId: handle.runId, ...(await store.load(handle.runId))! };
}

function stopped(limit: string, bound: number, more: object = {}) {
  const additionalData = { limit, bound, ...more };
  return { status: 'error', result: { error: { type: 'limit_exceeded', additionalData } } };
}

function kinds(steps: readonly { kind: string }[], kind: string) {
  return steps.filter((step) => step.kind === kind);
}

test('a stubborn model is called as often as the defaults allow, and what it did is kept', async () => {
  const model = stubborn();
  const { run, steps } = await ran(agent({ id: 'a', model, tools: [look] }));
  expect(model.requests).toHaveLength(500);
  expect(run).toMatchObject(stopped('turns', 500, { used: 500, source: 'default', component_id: 'a' }));
  expect(run.result?.content).toBe(
    "The run of agent 'a' was stopped: it may call its model 500 times, which it did (the default for turns). Set limits.turns of agent 'a', then continue the run.",
  );
  expect(kinds(steps, 'tool')).toHaveLength(500);
  expect(messagesOf(run, steps)).toHaveLength(1001);
  expect(run.result?.metrics).toMatchObject({ total_tokens: 7500 });
});

test('a run that needs as many turns as it may take completes', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'done']);
  const { run } = await ran(agent({ id: 'a', model, tools: [look], limits: { turns: 2, toolCalls: 1 } }));
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
});

test('too many tool calls in one answer: none of them begins', async () => {
  let executed = 0;
  const count = tool({ name: 'look', description: 'Counts', execute: () => String(++executed) });
  const model = stubborn({ toolCalls: Array.from({ length: 10_001 }, () => ({ name: 'look' })) });
  const { run, steps } = await ran(agent({ id: 'a', model, tools: [count] }));
  expect(executed).toBe(0);
  expect(kinds(steps, 'tool')).toEqual([]);
  expect(run).toMatchObject(stopped('toolCalls', 10_000, { used: 10_001 }));
});

test('tool calls are counted over all turns', async () => {
  const model = stubborn({ toolCalls: [{ name: 'look' }, { name: 'look' }] });
  const { run, steps } = await ran(agent({ id: 'a', model, tools: [look], limits: { toolCalls: 5 } }));
  expect(kinds(steps, 'tool')).toHaveLength(4);
  expect(run).toMatchObject(stopped('toolCalls', 5, { used: 6, source: 'own' }));
});

test('tokens and costs are looked at before the next call of a model or a tool', async () => {
  const usage = { inputTokens: 600_000, outputTokens: 400_000, totalTokens: 1_000_000 };
  for (const [limits, limit, bound] of [
    [{ tokens: 2_500_000 }, 'tokens', 2_500_000],
    [{ cost: 2.5 }, 'cost', 2.5],
  ] as const) {
    const model = stubborn({ usage });
    const { run, steps } = await ran(agent({ id: 'a', model, tools: [look], limits }));
    expect(model.requests).toHaveLength(3);
    expect(kinds(steps, 'tool')).toHaveLength(2);
    expect(run).toMatchObject(stopped(limit, bound, { used: limit === 'cost' ? 3 : 3_000_000 }));
  }
});

test('an answer that uses up the tokens is an answer: what the run can do without is left out', async () => {
  const followups = scriptedModel(['["more?"]']);
  const model = scriptedModel([{ text: 'done', usage: { totalTokens: 5_000 } }]);
  const { run } = await ran(
    agent({ id: 'a', model, followups: true, followupModel: followups, limits: { tokens: 1_000 } }),
  );
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
  expect(followups.requests).toEqual([]);
});

test('what calls beside the conversation use counts as well', async () => {
  const reasoningModel = scriptedModel([
    {
      text: JSON.stringify({ title: 't', reasoning: 'r', next_action: 'final_answer' }),
      usage: { totalTokens: 5_000 },
    },
  ]);
  const model = scriptedModel(['done']);
  const { run } = await ran(agent({ id: 'a', model, reasoningModel, limits: { tokens: 1_000 } }));
  expect(model.requests).toEqual([]);
  expect(run).toMatchObject(stopped('tokens', 1_000, { used: 5_000 }));
});

/** Work that does not end, whatever its signal says. */
const never = () => new Promise<never>(() => {});

const hanging: Record<string, AgentSettings> = {
  'a model': { model: scriptedModel(() => ({ waitFor: never() })) },
  'a tool that does not look at its signal': {
    model: stubborn(),
    tools: [tool({ name: 'look', description: 'Hangs', execute: never })],
  },
  'a hook': { model: stubborn(), preHooks: [never] },
};

test.each(Object.entries(hanging))(
  '%s that hangs is stopped when the time is up',
  async (_name, settings) => {
    const { run } = await ran(agent({ ...settings, id: 'a', limits: { timeMs: 60 } }));
    expect(run).toMatchObject(stopped('timeMs', 60));
    expect(run.result?.executedMs).toBeGreaterThanOrEqual(60);
  },
);

test('a stream that drips for ever is stopped, and what was said stays in the conversation', async () => {
  const chunks = ['Once ', 'upon ', never()];
  const { run, steps } = await ran(
    agent({ id: 'a', model: scriptedModel([{ chunks }]), limits: { timeMs: 60 } }),
  );
  expect(run).toMatchObject(stopped('timeMs', 60));
  expect(messagesOf(run, steps).at(-1)).toMatchObject({ role: 'assistant', content: 'Once upon ' });
});

test('a run continues to count after a crash', async () => {
  const store = await freshStore();
  const stuck = gate();
  const model = scriptedModel((_request, call) => {
    if (call !== 2) return { toolCalls: [{ name: 'look' }] };
    stuck.open();
    return { waitFor: never() };
  });
  const component = agent({ id: 'a', model, tools: [look], limits: { turns: 5, timeMs: 3_600_000 } });
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, component, { background: true });
  await stuck.promise;
  await expect.poll(async () => (await store.load(runId))?.steps.length).toBe(6);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component]);
  await next.recover();
  await expect.poll(async () => (await store.load(runId))?.run.status).toBe('error');
  const { run, steps } = (await store.load(runId))!;
  expect(run).toMatchObject({ attempt: 2, ...stopped('turns', 5, { used: 5 }) });
  // the call that was under way is made again, and counts once
  expect(model.requests).toHaveLength(6);
  expect(kinds(steps, 'model')).toHaveLength(5);
});

test('a pause ends neither the count nor costs time', async () => {
  const ask = tool({ name: 'look', description: 'Asks', requiresConfirmation: true, execute: () => 'seen' });
  const model = stubborn();
  const store = await freshStore();
  let now = 1_000_000;
  const { systemTimers } = await import('../../../src/platform/engine/local/timers.js');
  const timers = { ...systemTimers, now: () => now };
  const component = agent({ id: 'a', model, tools: [ask], limits: { turns: 3, timeMs: 3_600_000 } });
  const engine = engineOver(store, [component], { timers });
  const { runId, ended } = await begin(engine, component);
  await ended;
  for (const turn of [0, 1]) {
    const paused = (await store.load(runId))!.run;
    expect(paused).toMatchObject({ status: 'paused', result: { executedMs: 0 } });
    now += 86_400_000;
    const answer = { answer: 'confirmed', confirmed: true };
    await (await engine.answer(runId, answers({ [`wait:tool:${turn}:0`]: answer }))).ended;
  }
  expect((await store.load(runId))!.run.status).toBe('paused');
  now += 86_400_000;
  const given = answers({ 'wait:tool:2:0': { answer: 'confirmed', confirmed: true } });
  await (await engine.answer(runId, given)).ended;
  expect((await store.load(runId))!.run).toMatchObject(stopped('turns', 3, { used: 3 }));
});

test('a run that met a limit ends at once when it is continued, and resumes when the limit was raised', async () => {
  const model = scriptedModel((_request, call) => (call < 4 ? { toolCalls: [{ name: 'look' }] } : 'done'));
  const settings = { id: 'a', model, tools: [look] };
  const first = await ran(agent({ ...settings, limits: { turns: 3 } }));
  const { store, runId } = first;
  expect(first.run).toMatchObject(stopped('turns', 3));
  const continued = async (component: Executable) => {
    const engine = engineOver(store, [component]);
    const { run, steps } = (await store.load(runId))!;
    const kept = component.continuation!(run, steps, 'end')!;
    await (await engine.retry(runId, kept, { ...goOn, turn: kept.turn })).ended;
    return (await store.load(runId))!.run;
  };
  expect(await continued(agent({ ...settings, limits: { turns: 3 } }))).toMatchObject(stopped('turns', 3));
  expect(model.requests).toHaveLength(3);
  expect(await continued(agent({ ...settings, limits: { turns: 5 } }))).toMatchObject({
    status: 'completed',
    result: { content: 'done' },
  });
  expect(model.requests).toHaveLength(5);
});

test('tokens of steps that a continued run has dropped still count', async () => {
  const model = scriptedModel(['bad', 'good'], { id: 'm', provider: 'P' });
  const component = agent({
    id: 'a',
    model,
    limits: { tokens: 15 },
    postHooks: [
      {
        name: 'picky',
        required: true,
        run: () => {
          throw new Error('no');
        },
      },
    ],
  });
  const { store, engine, runId } = await ran(component);
  const { run, steps } = (await store.load(runId))!;
  const kept = component.continuation(run, steps, 'last_user');
  await (await engine.retry(runId, kept, { ...goOn, turn: kept.turn })).ended;
  const after = (await store.load(runId))!;
  expect(after.run).toMatchObject(stopped('tokens', 15, { used: 15 }));
  expect(usageOf(after.run, after.steps).models).toMatchObject([{ totalTokens: 15 }]);
});

test('the service is a ceiling: the smaller limit counts', async () => {
  const model = stubborn();
  const under = await ran(agent({ id: 'a', model, tools: [look], limits: { turns: 900 } }), { turns: 4 });
  expect(under.run).toMatchObject(stopped('turns', 4, { source: 'service' }));
  expect(under.run.result?.content).toContain('Raise the service setting maxRunTurns');
  const own = await ran(agent({ id: 'a', model, tools: [look], limits: { turns: 3 } }), { turns: 4 });
  expect(own.run).toMatchObject(stopped('turns', 3, { source: 'own' }));
  const opened = await ran(agent({ id: 'a', model, tools: [look], limits: { turns: null } }), { turns: 4 });
  expect(opened.run).toMatchObject(stopped('turns', 4, { source: 'service' }));
});

test('a definition, or the service, can do without a default', async () => {
  const model = scriptedModel((_request, call) => (call < 510 ? { toolCalls: [{ name: 'look' }] } : 'done'));
  const output = await agent({ id: 'a', model, tools: [look], limits: { turns: null } }).run('hello');
  expect(output).toMatchObject({ status: 'completed', content: 'done' });
  const of = (limits: AnyLimits, ceiling: AnyLimits) => boundsOf({ kind: 'agent', id: 'a', limits }, ceiling);
  expect(of({}, {}).turns).toMatchObject({ value: 500, source: 'default' });
  expect(of({}, { turns: null }).turns).toBeUndefined();
  expect(of({ turns: 1_000 }, {}).turns).toMatchObject({ value: 1_000, source: 'own' });
  expect(of({ turns: 1_000 }, { turns: null }).turns).toMatchObject({ value: 1_000, source: 'own' });
  expect(of({}, { turns: 2_000 }).turns).toMatchObject({ value: 2_000, source: 'service' });
});

test('the run of a model without a price says that its costs are not limited', async () => {
  const warned: unknown[] = [];
  const { silentLog } = await import('../../../src/core/log.js');
  const log = { ...silentLog, warn: (_facts: unknown, text: string) => void warned.push(text) };
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'done'], { id: 'free' });
  const component = agent({ id: 'a', model, tools: [look], limits: { cost: 1 } });
  const store = await freshStore();
  await (await begin(engineOver(store, [component], { log }), component)).ended;
  expect(warned).toEqual(['a limit on costs cannot count the calls of a model without a price: set prices']);
});

test.each([
  [{ turns: 0 }, "Agent 'a': limits.turns is 0. Give a whole number, 1 or more, or null for none."],
  [{ toolCalls: 1.5 }, 'limits.toolCalls is 1.5'],
  [{ tokens: Number.NaN }, 'limits.tokens is NaN'],
  [{ cost: -1 }, 'limits.cost is -1. Give US dollars above 0, or null for none.'],
  [{ timeMs: 2 ** 31 }, 'limits.timeMs is 2147483648. Give whole milliseconds from 1 to 2147483647'],
  [{ turns: '5' }, "limits.turns is '5'"],
  [{ turn: 5 }, 'limits.turn is not an option. Did you mean turns?'],
  [{ steps: 5 }, 'limits.steps is not an option'],
  [[5], 'limits is a list. Give an object'],
])('limits %j are rejected', (limits, text) => {
  expect(() => agent({ id: 'a', model: 'offline', limits: limits as never })).toThrow(text);
});
