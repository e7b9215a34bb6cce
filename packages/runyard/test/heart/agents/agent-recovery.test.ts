import { expect, test } from 'vitest';
import { GuardrailRefusal } from '../../../src/core/agents/hooks/hook.js';
import { InProcessResponses } from '../../../src/core/models/cache/in-process-responses.js';
import type { RunEngine } from '../../../src/core/runs/engine.js';
import { type Agent, agent, ModelError, tool } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';

/** Runs the agent in an engine that dies when `reached` is open, and then in another one over the same store. */
async function diesAndRecovers(
  component: Agent,
  reached: Promise<unknown>,
  stepsBefore: number,
  options: Parameters<typeof engineOver>[2] = {},
) {
  const store = await freshStore();
  const dead = engineOver(store, [component], { ...options, owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, component, { background: true });
  await reached;
  await expect.poll(async () => (await store.load(runId))?.steps.length).toBe(stepsBefore);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next: RunEngine = engineOver(store, [component], options);
  await next.recover();
  const events = await allEvents({ events: () => next.events(runId, 0) });
  const { run, steps } = (await store.load(runId))!;
  return { run, steps, names: events.map(({ name }) => name) };
}

/** A turn that never ends the first time, and answers the second. */
function stuckOnce(answer: string) {
  const reached = gate();
  let calls = 0;
  const turn = () => {
    calls += 1;
    if (calls > 1) return answer;
    reached.open();
    return { waitFor: new Promise(() => {}) };
  };
  return { turn, reached: reached.promise };
}

test('hooks ran once, and the model that answered continues', async () => {
  const refused = new ModelError('gone', { provider: 'P', kind: 'refused' });
  const own = scriptedModel(() => ({ error: refused }), { id: 'own' });
  const stuck = stuckOnce('done');
  const fallback = scriptedModel(
    (_request, call) => (call === 0 ? { toolCalls: [{ name: 'look' }] } : stuck.turn()),
    { id: 'fallback' },
  );
  const counts = { hook: 0, look: 0 };
  const component = agent({
    id: 'a',
    model: own,
    fallbackModels: [fallback],
    preHooks: [
      ({ content }) => {
        counts.hook += 1;
        return `${content} #${counts.hook}`;
      },
    ],
    postHooks: [({ content }) => `${content as string}!`],
    tools: [tool({ name: 'look', description: 'Looks', execute: () => `seen ${++counts.look}` })],
  });
  const { run, names } = await diesAndRecovers(component, stuck.reached, 6);
  expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'done!' } });
  expect(counts).toEqual({ hook: 1, look: 1 });
  expect(own.requests).toHaveLength(1);
  expect(fallback.requests.at(-1)?.messages.map(({ content }) => content)).toEqual([
    'hello #1',
    '',
    'seen 1',
  ]);
  for (const name of ['PreHookStarted', 'PreHookCompleted', 'PostHookCompleted', 'RunCompleted']) {
    expect(names.filter((other) => other === name)).toHaveLength(1);
  }
});

test('an answer from the response cache is recorded as one', async () => {
  const stuck = stuckOnce('done');
  let looks = 0;
  const model = scriptedModel(({ messages }) => {
    if (messages.at(-1)?.role === 'user') return { toolCalls: [{ name: 'look' }] };
    return looks === 1 ? 'kept' : stuck.turn();
  });
  const look = tool({ name: 'look', description: 'Looks', execute: () => `seen ${++looks}` });
  const component = agent({ id: 'a', model, cacheResponses: true, tools: [look] });
  const ports = { responses: new InProcessResponses(systemTimers) };
  const first = engineOver(await freshStore(), [component], { ports });
  await allEvents(await begin(first, component));
  expect(model.requests).toHaveLength(2);

  const { run, steps, names } = await diesAndRecovers(component, stuck.reached, 4, { ports });
  expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'done' } });
  expect(run.result?.metrics).toMatchObject({ cached_calls: 1, total_tokens: 15 });
  expect(steps.find(({ key }) => key === 'model:0')?.output).toMatchObject({ cached: true });
  expect(names.filter((name) => name === 'ToolCallCompleted')).toHaveLength(1);
  // the second turn alone, in both executions
  expect(model.requests).toHaveLength(4);
});

test('a parser model that had answered is not asked again', async () => {
  const parser = scriptedModel(['{"sum":3}']);
  const stuck = gate();
  let looked = 0;
  const component = agent({
    id: 'a',
    model: scriptedModel(['it is three']),
    parserModel: parser,
    outputSchema: { title: 'Sum', type: 'object', properties: { sum: { type: 'integer' } } },
    postHooks: [
      () => {
        looked += 1;
        if (looked > 1) return undefined;
        stuck.open();
        return new Promise<never>(() => {});
      },
    ],
  });
  const { run, names } = await diesAndRecovers(component, stuck.promise, 4);
  expect(run.result).toMatchObject({ content: { sum: 3 }, contentType: 'Sum' });
  expect(parser.requests).toHaveLength(1);
  expect(names.filter((name) => name.startsWith('ParserModel'))).toEqual([
    'ParserModelResponseStarted',
    'ParserModelResponseCompleted',
  ]);
});

test('a refusal that was recorded stands', async () => {
  const store = await freshStore();
  let asked = 0;
  const component = agent({
    id: 'a',
    model: scriptedModel(() => 'never'),
    preHooks: [
      () => {
        asked += 1;
        throw new GuardrailRefusal('No.');
      },
    ],
  });
  const engine = engineOver(store, [component]);
  const { run, steps } = await (await begin(engine, component)).ended;
  expect(run).toMatchObject({ status: 'error', result: { error: { type: 'input_check_error' } } });
  expect(steps.map(({ key, status, output }) => ({ key, status, output }))).toEqual([
    {
      key: 'pre-hook:0',
      status: 'completed',
      output: { outcome: 'refused', message: 'No.', trigger: 'input_not_allowed' },
    },
  ]);
  expect(asked).toBe(1);
});
