import { describe, expect, test } from 'vitest';
import { messagesOf } from '../../../src/core/agents/transcript.js';
import type { RunEngine } from '../../../src/core/runs/engine.js';
import type { ContinueRecord } from '../../../src/core/runs/journal/records.js';
import type { ContinueFrom } from '../../../src/core/runs/resume/continuation.js';
import type { EndedRun, RunLineage } from '../../../src/core/runs/run.js';
import { type Agent, agent, GuardrailRefusal, ModelError, tool } from '../../../src/index.js';
import { type ScriptedModel, type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';

type Store = Awaited<ReturnType<typeof freshStore>>;
type Place = { engine: RunEngine; store: Store; component: Agent };

async function placeOf(component: Agent): Promise<Place> {
  const store = await freshStore();
  return { store, component, engine: engineOver(store, [component]) };
}

async function runOnce({ engine, component }: Place, content = 'hello', sessionId?: string) {
  const input = { content, media: [], options: { stream: true } };
  return (await begin(engine, component, { input, ...(sessionId && { sessionId }) })).ended;
}

/** Continues in a copy. */
async function copy(
  { engine, component }: Place,
  { run, steps }: EndedRun,
  from: ContinueFrom,
  input: string | null = null,
  lineage: RunLineage = {},
) {
  const kept = component.continuation(run, steps, from);
  const continuation: ContinueRecord = { turn: kept.turn, input, options: {} };
  return begin(engine, component, {
    input: run.input,
    sessionId: run.sessionId,
    copy: { steps: kept.steps, lineage: { forkedFromRunId: run.runId, ...lineage }, continuation },
  });
}

function texts({ run, steps }: Pick<EndedRun, 'run' | 'steps'>): string[] {
  return messagesOf(run, steps).map(({ role, content }) => `${role}: ${content}`);
}

function asked(model: ScriptedModel, call: number): string[] {
  return model.requests.at(call)!.messages.map(({ role, content }) => `${role}: ${content}`);
}

/** A tool that counts how often it was called. */
function counter() {
  const calls: string[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks',
    execute: () => {
      calls.push('look');
      return `seen ${calls.length}`;
    },
  });
  return { look, calls };
}

const broken = new ModelError('gone', { provider: 'P', kind: 'refused' });

describe('a failed run is continued in place', () => {
  test('makes the failed call again and nothing else, and counts nothing twice', async () => {
    const { look, calls } = counter();
    const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
    const model = scriptedModel([
      { toolCalls: [{ name: 'look' }], usage },
      { error: broken },
      { text: 'done', usage },
    ]);
    const place = await placeOf(agent({ id: 'a', model, tools: [look] }));
    const { run, steps } = await runOnce(place);
    expect(run).toMatchObject({ status: 'error', result: { error: { type: 'model_provider_error' } } });
    const kept = place.component.continuation(run, steps, 'end');
    const record = { turn: kept.turn, input: 'try again', options: { metadata: { try: 2 } } };
    const handle = await place.engine.retry(run.runId, kept, record);
    const events = await allEvents(handle, run.nextEventIndex);
    const ended = await handle.ended;
    expect(ended.run).toMatchObject({
      runId: run.runId,
      status: 'completed',
      result: { content: 'done', metadata: { try: 2 } },
    });
    expect(calls).toHaveLength(1);
    expect(texts(ended)).toEqual([
      'user: hello',
      'assistant: ',
      'tool: seen 1',
      'user: try again',
      'assistant: done',
    ]);
    expect(asked(model, 2)).toEqual(texts(ended).slice(0, -1));
    expect(ended.run.result?.metrics).toMatchObject({ input_tokens: 20, total_tokens: 22 });
    const names = events.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['RunContinued', 'ModelRequestStarted']);
    expect(names.filter((name) => name.startsWith('ToolCall'))).toEqual([]);
    expect(names.slice(-2)).toEqual(['RunContentCompleted', 'RunCompleted']);
  });

  test('asks the model again after an answer that was refused, and runs the hooks again', async () => {
    const model = scriptedModel(['a secret', 'nothing to tell']);
    const postHooks = [
      {
        name: 'discreet',
        required: true,
        run: ({ content }: { content: unknown }) => {
          if (String(content).includes('secret')) throw new GuardrailRefusal('No.');
        },
      },
    ];
    const place = await placeOf(agent({ id: 'a', model, postHooks }));
    const { run, steps } = await runOnce(place);
    expect(run.result?.error?.type).toBe('output_check_error');
    const kept = place.component.continuation(run, steps, 'end');
    const record = { turn: kept.turn, input: null, options: {} };
    const handle = await place.engine.retry(run.runId, kept, record);
    const names = (await allEvents(handle, run.nextEventIndex)).map(({ name }) => name);
    const ended = await handle.ended;
    expect(ended.run).toMatchObject({ status: 'completed', result: { content: 'nothing to tell' } });
    expect(texts(ended)).toEqual(['user: hello', 'assistant: nothing to tell']);
    expect(names).toEqual(expect.arrayContaining(['PostHookStarted', 'PostHookCompleted', 'RunContent']));
  });

  test('repeats only what comes after the answer when that is what failed', async () => {
    const model = scriptedModel(['done']);
    let tries = 0;
    const postHooks = [
      {
        name: 'flaky',
        required: true,
        run: () => {
          tries += 1;
          if (tries === 1) throw new Error('not now');
        },
      },
    ];
    const place = await placeOf(agent({ id: 'a', model, postHooks }));
    const { run, steps } = await runOnce(place);
    expect(run.status).toBe('error');
    const kept = place.component.continuation(run, steps, 'end');
    const record = { turn: kept.turn, input: null, options: {} };
    const ended = await (await place.engine.retry(run.runId, kept, record)).ended;
    expect(ended.run).toMatchObject({ status: 'completed', result: { content: 'done' } });
    expect(model.requests).toHaveLength(1);
    expect(tries).toBe(2);
  });

  test('from its beginning, everything is done anew', async () => {
    const { look, calls } = counter();
    const model = scriptedModel([
      { toolCalls: [{ name: 'look' }] },
      { error: broken },
      { toolCalls: [{ name: 'look' }] },
      'done',
    ]);
    const place = await placeOf(agent({ id: 'a', model, tools: [look] }));
    const { run, steps } = await runOnce(place);
    const kept = place.component.continuation(run, steps, 0);
    const handle = await place.engine.retry(run.runId, kept, { turn: 0, input: null, options: {} });
    const names = (await allEvents(handle, run.nextEventIndex)).map(({ name }) => name);
    expect(texts(await handle.ended)).toEqual([
      'user: hello',
      'assistant: ',
      'tool: seen 2',
      'assistant: done',
    ]);
    expect(calls).toHaveLength(2);
    expect(names.filter((name) => name.startsWith('ToolCall'))).toEqual([
      'ToolCallStarted',
      'ToolCallCompleted',
    ]);
  });
});

describe('a completed run is continued as a copy', () => {
  test('with what the user says next; only what is new is emitted and paid for', async () => {
    const { look, calls } = counter();
    const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
    const model = scriptedModel([
      { toolCalls: [{ name: 'look' }], usage },
      { text: 'done', usage },
      { text: 'sure', usage },
    ]);
    const seen: string[] = [];
    const preHooks = [({ content }: { content: string }) => void seen.push(content)];
    const place = await placeOf(agent({ id: 'a', model, tools: [look], preHooks }));
    const first = await runOnce(place);
    const handle = await copy(place, first, 'end', 'are you sure?');
    const names = (await allEvents(handle)).map(({ name }) => name);
    const second = await handle.ended;
    expect(second.run.runId).not.toBe(first.run.runId);
    expect(second.run.lineage).toMatchObject({ forkedFromRunId: first.run.runId });
    expect(texts(second)).toEqual([...texts(first), 'user: are you sure?', 'assistant: sure']);
    expect(asked(model, 2)).toEqual(texts(second).slice(0, -1));
    expect(calls).toHaveLength(1);
    expect(seen).toEqual(['hello', 'are you sure?']);
    expect(second.run.result?.metrics).toMatchObject({ input_tokens: 10, total_tokens: 11 });
    expect(names.filter((name) => name.startsWith('ToolCall'))).toEqual([]);
    expect(names.filter((name) => name.startsWith('PreHook'))).toEqual([
      'PreHookStarted',
      'PreHookCompleted',
    ]);
    expect(names[0]).toBe('RunContinued');
    expect(names.filter((name) => name === 'ModelRequestCompleted')).toHaveLength(1);
    expect((await place.store.load(first.run.runId))?.run).toEqual(first.run);
  });

  test('with nothing to add, the model is asked to continue', async () => {
    const place = await placeOf(agent({ id: 'a', model: scriptedModel(['one', 'two']) }));
    const second = await (await copy(place, await runOnce(place), 'end')).ended;
    expect(texts(second)).toEqual(['user: hello', 'assistant: one', 'assistant: two']);
  });

  test('regenerated: the old answer is gone and the tools are not called again', async () => {
    const { look, calls } = counter();
    const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'meh', 'better']);
    const place = await placeOf(agent({ id: 'a', model, tools: [look], addHistoryToContext: true }));
    const first = await runOnce(place);
    const lineage = { regeneratedFrom: first.run.runId, replaces: first.run.runId };
    const second = await (await copy(place, first, 'last_answer', null, lineage)).ended;
    expect(texts(second)).toEqual(['user: hello', 'assistant: ', 'tool: seen 1', 'assistant: better']);
    expect(second.run.result?.content).toBe('better');
    expect(calls).toHaveLength(1);
    expect((await place.store.load(first.run.runId))?.run.status).toBe('regenerated');
  });

  test('a copy of a copy keeps all that was said, each word once', async () => {
    const model = scriptedModel(['one', 'two', 'three', { error: broken }, 'four']);
    const place = await placeOf(agent({ id: 'a', model }));
    const second = await (await copy(place, await runOnce(place), 'end', 'and?')).ended;
    const third = await (await copy(place, second, 'end', 'go on')).ended;
    const said = ['user: hello', 'assistant: one', 'user: and?', 'assistant: two', 'user: go on'];
    expect(texts(third)).toEqual([...said, 'assistant: three']);
    const failed = await (await copy(place, third, 'last_user')).ended;
    expect(failed.run.status).toBe('error');
    const kept = place.component.continuation(failed.run, failed.steps, 'end');
    const record = { turn: kept.turn, input: 'please', options: {} };
    const last = await (await place.engine.retry(failed.run.runId, kept, record)).ended;
    expect(texts(last)).toEqual([...said, 'user: please', 'assistant: four']);
    expect(texts((await place.store.load(last.run.runId))!)).toEqual(texts(last));
  });

  test('the copy continues from the answer as the hooks changed it', async () => {
    const model = scriptedModel(['call 555-1234', 'bye']);
    const postHooks = [({ content }: { content: unknown }) => String(content).replace(/[\d-]+/, '[phone]')];
    const place = await placeOf(agent({ id: 'a', model, postHooks }));
    const second = await (await copy(place, await runOnce(place), 'end', 'thanks')).ended;
    expect(asked(model, 1)).toEqual(['user: hello', 'assistant: call [phone]', 'user: thanks']);
    expect(JSON.stringify(second.steps)).not.toContain('555-1234');
  });
});

test('what a tool shows is a part of the answer to which it led, and of none that follows', async () => {
  const ring = tool({ name: 'ring', description: 'Rings', showResult: true, execute: () => 'ding' });
  const model = scriptedModel([{ toolCalls: [{ name: 'ring' }] }, 'Rang.', 'Hello.']);
  const component = agent({ id: 'a', model, tools: [ring] });
  const first = await component.run('Ring!');
  expect(first.content).toBe('ding\nRang.');
  expect((await component.continue(first.runId, { input: 'And now greet me' })).content).toBe('Hello.');
});

test('a guardrail looks at what is said with a continuation too', async () => {
  const model = scriptedModel(['hi', 'fine']);
  const preHooks = [
    ({ content }: { content: string }) => {
      if (content.includes('bomb')) throw new GuardrailRefusal('No.');
      return content.replace('ada', '[name]');
    },
  ];
  const place = await placeOf(agent({ id: 'a', model, preHooks }));
  const first = await runOnce(place);
  const refused = await (await copy(place, first, 'end', 'a bomb')).ended;
  expect(refused.run).toMatchObject({ status: 'error', result: { error: { type: 'input_check_error' } } });
  expect(texts(refused)).toEqual(['user: hello', 'assistant: hi']);
  expect(model.requests).toHaveLength(1);
  const kept = place.component.continuation(refused.run, refused.steps, 'end');
  const record = { turn: kept.turn, input: 'I am ada', options: {} };
  const ended = await (await place.engine.retry(refused.run.runId, kept, record)).ended;
  expect(ended.run.status).toBe('completed');
  expect(asked(model, 1)).toEqual(['user: hello', 'assistant: hi', 'user: I am [name]']);
});

describe('history', () => {
  test('shows a copy and its original without saying anything twice', async () => {
    const model = scriptedModel(['one', 'two', 'three']);
    const place = await placeOf(agent({ id: 'a', model, addHistoryToContext: true }));
    const first = await runOnce(place, 'hello', 's1');
    await (await copy(place, first, 'end', 'and?')).ended;
    await runOnce(place, 'again', 's1');
    expect(asked(model, 2)).toEqual([
      'user: hello',
      'assistant: one',
      'user: and?',
      'assistant: two',
      'user: again',
    ]);
  });

  test('is the same after a crash, whatever was added to the session since', async () => {
    const reached = gate();
    let stuck = true;
    const model = scriptedModel((request, call) => {
      const last = request.messages.at(-1)!.content;
      if (last !== 'slow' || !stuck) return `answer ${call} to ${last}`;
      stuck = false;
      reached.open();
      return { waitFor: new Promise(() => {}) };
    });
    const component = agent({ id: 'a', model, addHistoryToContext: true, numHistoryRuns: 1 });
    const store = await freshStore();
    const alive = { store, component, engine: engineOver(store, []) };
    await runOnce(alive, 'early', 's1');
    const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const input = { content: 'slow', media: [], options: { stream: true } };
    const { runId } = await begin(dead, component, { input, sessionId: 's1', background: true });
    await reached.promise;
    await expect.poll(async () => (await store.load(runId))?.steps.length).toBe(2);
    const original = (
      await store.history({
        sessionId: 's1',
        kind: 'agent',
        componentId: 'a',
        count: 1,
        runId,
      })
    )[0]!;
    // the run that was shown is replaced by another one before the crash is noticed
    const steps = original.steps.filter(({ kind }) => kind === 'context');
    const lineage = { regeneratedFrom: original.run.runId, replaces: original.run.runId };
    const again = await begin(alive.engine, component, {
      input: original.run.input,
      sessionId: 's1',
      copy: { steps, lineage, continuation: { turn: 0, input: null, options: {} } },
    });
    await again.ended;
    expect((await store.load(original.run.runId))?.run.status).toBe('regenerated');
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    const next = engineOver(store, [component]);
    await next.recover();
    const events = await allEvents({ events: () => next.events(runId, 0) });
    expect(asked(model, -1)).toEqual(['user: early', 'assistant: answer 0 to early', 'user: slow']);
    const starts = events.filter(({ name }) => name === 'RunStarted').map(({ data }) => JSON.parse(data));
    expect(starts.map(({ recovered }) => recovered)).toEqual([undefined, true]);
  });
});

describe('after a crash, a run that was continued', () => {
  const call = { toolCalls: [{ name: 'look' }] };

  /** Continues the run in an engine that dies in the next model call, and recovers it in another one. */
  async function crashed(
    script: ScriptedTurn[],
    end: ScriptedTurn[],
    goOn: (place: Place) => Promise<string>,
  ) {
    const reached = gate();
    const never = () => {
      reached.open();
      return { waitFor: new Promise(() => {}) };
    };
    const { look } = counter();
    const component = agent({ id: 'a', model: scriptedModel([...script, never, ...end]), tools: [look] });
    const store = await freshStore();
    const engine = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const runId = await goOn({ store, component, engine });
    await reached.promise;
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    const next = engineOver(store, [component]);
    await next.recover();
    const names = (await allEvents({ events: () => next.events(runId, 0) })).map(({ name }) => name);
    expect((await store.load(runId))?.run).toMatchObject({ status: 'completed', result: { content: 'end' } });
    return names.filter((name) => name.startsWith('ToolCall'));
  }

  test('emits nothing about what it was copied with', async () => {
    const emitted = await crashed([call, 'done'], ['end'], async (place) => {
      const { runId } = await copy(place, await runOnce(place), 'end', 'sure?');
      return runId;
    });
    expect(emitted).toEqual([]);
  });

  test('emits what it did anew', async () => {
    const emitted = await crashed([call, { error: broken }], [call, 'end'], async (place) => {
      const { run, steps } = await runOnce(place);
      const kept = place.component.continuation(run, steps, 'last_user');
      await place.engine.retry(run.runId, kept, { turn: 0, input: null, options: {} });
      return run.runId;
    });
    expect(emitted).toEqual(['ToolCallStarted', 'ToolCallCompleted', 'ToolCallStarted', 'ToolCallCompleted']);
  });
});
