import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { personalDataGuardrail } from '../../../src/guardrails.js';
import {
  type AfterModel,
  type Agent,
  agent,
  GuardrailRefusal,
  type Message,
  type ModelCall,
  type ModelHook,
  type TextTransform,
  team,
  tool,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';
import { ask } from '../teams/team-runs.js';

const calling = (name: string, args = {}) => ({ toolCalls: [{ id: `call ${name}`, name, arguments: args }] });
const executed: string[] = [];
const made = (name: string, rest = {}) =>
  tool({ name, description: name, execute: () => void executed.push(name), ...rest });

const shout: TextTransform = async function* (pieces) {
  for await (const piece of pieces) yield piece.toUpperCase();
};

describe('a model hook', () => {
  test('changes what one call is given, and the stored conversation stays as it is', async () => {
    const model = scriptedModel([calling('look'), 'Done.'], { id: 'own' });
    const other = scriptedModel(['Done by the other.'], { id: 'other' });
    const seen: ModelCall[] = [];
    const hook: ModelHook = (call, { stage, runId }) => {
      expectTypeOf(call.messages).toEqualTypeOf<readonly Message[]>();
      expect([stage, typeof runId]).toEqual(['before_model', 'string']);
      seen.push(call);
      if (call.turn === 0) return { toolChoice: 'required', parameters: { temperature: 0 } };
      const messages = [...call.messages.slice(0, 1), { role: 'user' as const, content: 'Only this' }];
      return { messages, tools: ['sing'], model: other };
    };
    const component = agent({
      name: 'A',
      instructions: 'Be kind.',
      model,
      tools: [made('look'), made('sing')],
      modelHooks: [hook],
    });
    const output = await component.runOrThrow('Hello');
    expect(model.requests).toMatchObject([{ toolChoice: 'required', parameters: { temperature: 0 } }]);
    const [request] = other.requests;
    expect(request!.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be kind.'],
      ['user', 'Only this'],
    ]);
    expect(request!.tools.map(({ name }) => name)).toEqual(['sing']);
    expect(seen.map(({ tools }) => tools)).toEqual([
      ['look', 'sing'],
      ['look', 'sing'],
    ]);
    expect(output.content).toBe('Done by the other.');
    expect(output.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(output.metrics.details).toMatchObject({ model: [{ id: 'own' }, { id: 'other' }] });
  });

  test('cannot add a tool, and a call of a tool that it left out is refused', async () => {
    executed.length = 0;
    const model = scriptedModel([calling('drop'), 'Done.']);
    const tools = [made('look'), made('drop')];
    const output = await agent({ name: 'A', model, tools, modelHooks: [() => ({ tools: ['look'] })] }).run(
      'Go',
    );
    expect(output.messages.find(({ role }) => role === 'tool')?.content).toBe(
      "There is no tool 'drop'. Available: look.",
    );
    expect(executed).toEqual([]);
  });

  test('opens no gate: a call that it forces waits for a person all the same', async () => {
    executed.length = 0;
    let calls = 0;
    const force: ModelHook = ({ turn }) => {
      calls += 1;
      return turn === 0 ? { tools: ['drop'], toolChoice: { name: 'drop' } } : undefined;
    };
    const model = scriptedModel([calling('drop'), 'Done.']);
    const component = agent({
      name: 'A',
      model,
      tools: [made('drop', { requiresConfirmation: true }), made('look')],
      modelHooks: [force],
    });
    const paused = await component.run('Go');
    expect([paused.status, executed]).toEqual(['paused', []]);
    const output = await component.continue(paused.runId, { answers: { 'call drop': { confirmed: true } } });
    expect([output.status, executed, calls]).toEqual(['completed', ['drop'], 2]);
  });

  test('sees what guardrails left of the input, and refuses before and after a call', async () => {
    const model = scriptedModel(() => 'A secret.');
    const seen: string[] = [];
    const shown = agent({
      name: 'A',
      model,
      preHooks: [personalDataGuardrail({ mask: true })],
      modelHooks: [({ messages }) => void seen.push(messages.at(-1)!.content)],
    });
    await shown.run('Write to ada@example.com');
    expect(seen).toEqual(['Write to [email]']);

    const refuse = () => {
      throw new GuardrailRefusal('Not this.', { trigger: 'off_topic' });
    };
    const before = await agent({ name: 'A', model, modelHooks: [refuse] }).run('Go');
    expect(before).toMatchObject({ status: 'error', error: { code: 'input_check_error', id: 'off_topic' } });
    const after = await agent({ name: 'A', model, modelHooks: [{ name: 'check', after: refuse }] }).run('Go');
    expect(after).toMatchObject({ status: 'error', error: { code: 'output_check_error', id: 'off_topic' } });
    expect(JSON.stringify(after.messages)).not.toContain('secret');
  });

  test('after a call gets a copy of the answer', async () => {
    const answers: unknown[] = [];
    const model = scriptedModel([calling('look', { deep: true }), 'Done.'], { id: 'own' });
    const after: AfterModel = (answer, { state }) => {
      answers.push(structuredClone(answer));
      state.set('calls', answers.length);
      Object.assign(answer, { content: 'forged' });
    };
    const component = agent({
      name: 'A',
      model,
      tools: [made('look')],
      modelHooks: [{ name: 'watch', after }],
    });
    const output = await component.run('Go');
    expect(answers).toMatchObject([
      { turn: 0, model: { id: 'own' }, toolCalls: [{ name: 'look', arguments: '{"deep":true}' }] },
      { turn: 1, content: 'Done.', toolCalls: [], finishReason: 'stop' },
    ]);
    expect([output.content, output.sessionState]).toEqual(['Done.', { calls: 2 }]);
  });

  test.each<[string, ModelHook, string]>([
    [
      'a tool that is not there',
      () => ({ tools: ['lok'] }),
      "tools names 'lok', which this call does not have. Did you mean 'look'?",
    ],
    [
      'a forced tool that it left out',
      () => ({ tools: [], toolChoice: { name: 'look' } }),
      "toolChoice.name names 'look'",
    ],
    [
      'a key that does not exist',
      () => ({ message: [] }) as never,
      'message is not an option. Did you mean messages?',
    ],
    ['no message', () => ({ messages: [] }), 'messages is an empty list'],
    [
      'more messages than a call may have',
      () => ({ messages: Array.from({ length: 10_001 }, () => ({ role: 'user' as const, content: 'x' })) }),
      'messages has 10001 entries. The most is 10000.',
    ],
    [
      'a forced call without a tool',
      () => ({ tools: [], toolChoice: 'required' }),
      "toolChoice is 'required', but the model is offered no tool.",
    ],
    [
      'a message without a text',
      () => ({ messages: [{ role: 'user' }] }) as never,
      'messages[0] is an object',
    ],
    ['something that JSON cannot hold', () => ({ parameters: { big: 1n } }) as never, 'BigInt'],
    ['an error', () => Promise.reject(new Error('boom')), 'boom'],
  ])('ends the run with a clear error for %s', async (_, modelHook, reason) => {
    const model = scriptedModel(() => 'never');
    const component = agent({ name: 'A', model, retries: 2, tools: [made('look')], modelHooks: [modelHook] });
    const output = await component.run('Go');
    expect(output).toMatchObject({ status: 'error', error: { code: 'model_hook_error' } });
    expect(output.content).toContain(' failed before model call 1: ');
    expect(output.content).toContain(reason);
    expect(model.requests).toEqual([]);
  });

  test('sees what the hooks before it left, and all that they changed is sent', async () => {
    const own = scriptedModel(['never'], { id: 'own' });
    const other = scriptedModel(['Done.'], { id: 'other' });
    const seen: ModelCall[] = [];
    const hooks: ModelHook[] = [
      ({ messages }) => ({
        // a copy that the hook writes into is another message
        messages: messages.map((one) => Object.assign(one, { content: one.content.toUpperCase() })),
        tools: ['look', 'sing'],
        parameters: { temperature: 0, seed: 1 },
        model: other,
      }),
      (call) => {
        seen.push(call);
        const note = { role: 'user' as const, content: 'A note' };
        return { messages: [...call.messages, note], tools: ['sing'], parameters: { seed: 2 } };
      },
      { name: 'watch', before: (call) => void seen.push(call) },
    ];
    const component = agent({
      name: 'A',
      model: own,
      instructions: 'Be kind.',
      tools: [made('look'), made('sing'), made('drop')],
      modelHooks: hooks,
    });
    await component.runOrThrow('Hello');
    expect(own.requests).toEqual([]);
    expect(seen.map(({ model, tools }) => [model.id, tools])).toEqual([
      ['other', ['look', 'sing']],
      ['other', ['sing']],
    ]);
    const texts = ['BE KIND.', 'HELLO', 'A note'];
    expect(seen.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      texts.slice(0, 2),
      texts,
    ]);
    const [request] = other.requests;
    expect(request).toMatchObject({ parameters: { temperature: 0, seed: 2 } });
    expect(request!.messages.map(({ content }) => content)).toEqual(texts);
  });

  test('chooses a model for one call alone, by its name too, and each hook receives which model answered', async () => {
    const own = scriptedModel([calling('look'), 'Done by own.'], { id: 'own' });
    const answered: [string, number, string][] = [];
    const watch = (name: string): ModelHook => ({
      name,
      after: ({ turn, model }) => void answered.push([name, turn, model.id]),
    });
    const choose: ModelHook = ({ turn }) =>
      turn === 0 ? { model: scriptedModel([calling('look')], { id: 'first' }) } : undefined;
    const component = agent({
      name: 'A',
      model: own,
      tools: [made('look')],
      modelHooks: [choose, watch('one'), watch('two')],
    });
    const output = await component.runOrThrow('Hello');
    expect(output.tools).toHaveLength(2);
    expect(answered).toEqual([
      ['one', 0, 'first'],
      ['two', 0, 'first'],
      ['one', 1, 'own'],
      ['two', 1, 'own'],
      ['one', 2, 'own'],
      ['two', 2, 'own'],
    ]);
    const named = agent({ name: 'A', model: own, modelHooks: [() => ({ model: 'offline' })] });
    const { metrics } = await named.runOrThrow('Hello');
    expect(metrics.details).toMatchObject({ model: [{ id: 'offline' }] });
  });

  test('leaves a fall-back that took over in a call that it changed in charge of the run', async () => {
    const broken = scriptedModel(() => ({ error: 'down' }), { id: 'broken' });
    const spare = scriptedModel([calling('look'), 'Done by the spare.'], { id: 'spare' });
    const component = agent({
      name: 'A',
      model: broken,
      fallbackModels: [spare],
      tools: [made('look')],
      modelHooks: [({ turn }) => (turn === 0 ? { parameters: { seed: 1 } } : undefined)],
    });
    const output = await component.runOrThrow('Hello');
    expect(output.content).toBe('Done by the spare.');
    expect([broken.requests.length, spare.requests.length]).toEqual([1, 2]);
  });

  test('holds for the leader of a team, and not for its members', async () => {
    const model = scriptedModel([{ toolCalls: [ask('m', 'write')] }, 'written', 'Done.']);
    const asked: number[] = [];
    const mates = team({
      id: 't',
      model,
      members: [agent({ id: 'm' })],
      modelHooks: [
        ({ turn }) => {
          asked.push(turn);
          return { parameters: { seed: turn } };
        },
      ],
      textTransforms: [shout],
    });
    const output = await mates.runOrThrow('Hello');
    expect(output.content).toBe('DONE.');
    expect(output.memberResponses?.map(({ content }) => content)).toEqual(['written']);
    expect(asked).toEqual([0, 1]);
    expect(model.requests.map(({ parameters }) => parameters?.seed)).toEqual([0, undefined, 1]);
  });

  test('is checked when the agent is defined', () => {
    const define = (modelHook: unknown) => () =>
      agent({ id: 'a', model: 'offline', modelHooks: [modelHook as never] });
    expect(define({ name: 'x' })).toThrow('modelHooks[0] has neither before nor after. Give one of them.');
    expect(define({ name: 'x', befor: () => {} })).toThrow('Did you mean before?');
    expect(define('x')).toThrow('Give a function, or { name, before, after }.');
    // @ts-expect-error a list of names
    agent({ id: 'a', model: 'offline', modelHooks: [() => ({ tools: 'look' })] });
  });

  test('looks at every turn of an agent with a schema', async () => {
    const model = scriptedModel(['{"city":"Rome"}']);
    const outputSchema = z.object({ city: z.string() });
    const hook: ModelHook = ({ messages }) => ({ messages });
    const output = await agent({ name: 'A', model, outputSchema, modelHooks: [hook] }).runOrThrow('Go');
    expect(output.content).toEqual({ city: 'Rome' });
  });
});

describe('after a crash', () => {
  /** Runs the agent in an engine that dies when `reached` is open, and then another one in a new engine. */
  async function diesAndRecovers(
    first: Agent,
    reached: Promise<unknown>,
    second: Agent = first,
    stepsBefore = 3,
  ) {
    const store = await freshStore();
    const dead = engineOver(store, [first], { owner: 'dead', leaseMs: 1 });
    const { runId } = await begin(dead, first, { background: true });
    await reached;
    await expect.poll(async () => (await store.load(runId))?.steps.length).toBe(stepsBefore);
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    const next = engineOver(store, [second]);
    await next.recover();
    await allEvents({ events: () => next.events(runId, 0) });
    return (await store.load(runId))!;
  }

  function stuckOnce(id: string) {
    const reached = gate();
    const model = scriptedModel(
      (_request, call) => {
        if (call > 0) return 'done';
        reached.open();
        return { waitFor: new Promise(() => {}) };
      },
      { id },
    );
    return { model, reached: reached.promise };
  }

  test('the same is sent again, and the hook is not called twice', async () => {
    const { model, reached } = stuckOnce('own');
    let calls = 0;
    const vary: ModelHook = ({ messages }) => {
      calls += 1;
      const note = { role: 'user' as const, content: `Note ${calls}` };
      return { messages: [...messages, note], parameters: { seed: calls } };
    };
    const component = agent({ id: 'a', model, modelHooks: [vary] });
    const { run } = await diesAndRecovers(component, reached);
    expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
    const [before, after] = model.requests;
    expect(after!.messages).toEqual(before!.messages);
    expect(after!.parameters).toEqual(before!.parameters);
    expect(before!.messages.at(-1)!.content).toBe('Note 1');
    expect(calls).toBe(1);
  });

  test('a hook that returns another model object ends the run: the model is never another one in silence', async () => {
    const { model, reached } = stuckOnce('chosen');
    let chosen = model;
    const component = agent({ id: 'a', model: 'offline', modelHooks: [() => ({ model: chosen })] });
    reached.then(() => {
      chosen = scriptedModel(['wrong'], { id: 'another' });
    });
    const { run } = await diesAndRecovers(component, reached);
    expect(run).toMatchObject({ status: 'error', result: { error: { type: 'definition_changed' } } });
    expect(run.result?.error?.message).toContain("the model 'chosen', and is now the model 'another'");
  });

  test('a text that the model gives again passes through the transforms once, from the cache too', async () => {
    const { model, reached } = stuckOnce('own');
    const component = agent({ id: 'a', model, textTransforms: [shout], cacheResponses: true });
    const { run } = await diesAndRecovers(component, reached, component, 2);
    expect(run).toMatchObject({ status: 'completed', result: { content: 'DONE' } });
    const given: string[] = [];
    const note: TextTransform = async function* (pieces) {
      for await (const piece of pieces) {
        given.push(piece);
        yield `${piece}!`;
      }
    };
    const said = scriptedModel(['one', 'two']);
    const cached = agent({ id: 'a', model: said, textTransforms: [note], cacheResponses: true });
    // what is kept is what the model said
    expect((await cached.run('x', { userId: 'ada' })).content).toBe('one!');
    expect((await cached.run('x', { userId: 'ada' })).content).toBe('one!');
    expect([given, said.requests.length]).toEqual([['one', 'one'], 1]);
  });

  test('a hook that is no longer there is a changed definition', async () => {
    const { model, reached } = stuckOnce('own');
    const withHook = agent({ id: 'a', model, modelHooks: [{ name: 'watch', before: () => undefined }] });
    const { run } = await diesAndRecovers(withHook, reached, agent({ id: 'a', model }));
    expect(run.result?.error).toMatchObject({ type: 'definition_changed' });
    expect(run.result?.error?.message).toContain('model hook 1 before model call 1');
  });
});
