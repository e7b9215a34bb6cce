import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answerOfApproval } from '../../../src/core/agents/requirements/approvals.js';
import { readAnswer } from '../../../src/core/agents/requirements/read-answer.js';
import { toWaitOutput } from '../../../src/core/agents/requirements/wait-output.js';
import type { Json } from '../../../src/core/json.js';
import type { QuestionAnswer } from '../../../src/core/tools/questions/tool-question.js';
import type { ToolOptions } from '../../../src/core/tools/tool-options.js';
import { agent, type InputField, step, type ToolContext, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { pausedOutput } from '../../support/outputs.js';
import { answers, begin, engineOver, freshStore, gate } from '../harness.js';
import { call, decided, type inputSchema, pausedRun, payTool, started } from '../paused-runs.js';

const size: InputField = { name: 'size', type: 'str', schema: { enum: ['S', 'M'] } };
const count: InputField = { name: 'count', type: 'int', description: 'How many', optional: true };

type Options = Partial<ToolOptions<typeof inputSchema>>;

/** An agent whose tool does this, and whose model then says what the tool returned. */
function asking(execute: (context: ToolContext) => unknown, options: Options = {}) {
  let executed = 0;
  const { pay } = payTool({
    ...options,
    execute: (_args, context) => {
      executed += 1;
      return execute(context);
    },
  });
  const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
  return { component: agent({ id: 'a', model, tools: [pay] }), executions: () => executed };
}

const said = (answer: QuestionAnswer) => (answer.action === 'accept' ? answer.values : answer);

describe('a tool that asks', () => {
  test('pauses the run for each question, is executed again and gets the answers', async () => {
    const { component, executions } = asking(async ({ ask }) => {
      const first = await ask({ message: 'Which size?', fields: [size, count] });
      const second = await ask({ message: 'Sure?' });
      return [said(first), second.action];
    });
    const run = await started(component);
    const { open, tools, run: paused } = await run.look();
    expect(paused).toMatchObject({ status: 'paused', result: { content: 'Which size?' } });
    expect(open).toMatchObject([
      {
        waitKey: 'wait:tool:0:0:ask:0',
        requirement: { kind: 'user_input', message: 'Which size?', inputFields: [size, count] },
      },
    ]);
    expect(tools).toMatchObject([
      {
        requires_user_input: true,
        user_input_schema: [
          { name: 'size', schema: { enum: ['S', 'M'] }, value: null },
          { name: 'count', required: false },
        ],
        confirmed: null,
      },
    ]);
    const again = await run.reply({ 'call pay': { values: { size: 'M', count: '2' } } });
    expect(again.open).toMatchObject([{ requirement: { kind: 'confirmation', message: 'Sure?' } }]);
    const ended = await run.reply({ 'call pay': { confirmed: true } });
    expect(ended.run.status).toBe('completed');
    expect(ended.tools).toMatchObject([{ result: '[{"size":"M","count":2},"accept"]' }]);
    expect(executions()).toBe(3);
    const events = (await run.events()).map(({ event }) => event).filter((name) => name.startsWith('Tool'));
    expect(events).toEqual(['ToolCallStarted', 'ToolCallCompleted']);
  });

  test.each([
    [
      { confirmed: false, note: 'not today' },
      { action: 'decline', note: 'not today' },
    ],
    [{ cancelled: true }, { action: 'cancel' }],
  ] as const)('receives %j', async (given, answer) => {
    const { component } = asking(({ ask }) => ask({ message: 'Which?', fields: [size] }));
    const { tools, run } = await (await started(component)).reply({ 'call pay': given });
    expect(run.status).toBe('completed');
    expect(tools).toMatchObject([{ result: JSON.stringify(answer), tool_call_error: false }]);
  });

  test.each([
    [{ size: 'XL' }, /'size' does not fit: the value: must be .*"S","M"/],
    [{ size: 7 }, /'size' must be a text/],
    [{ size: 'S', count: 'many' }, /'count' must be a whole number/],
  ])('is not given %j', async (values, message) => {
    const { component } = asking(({ ask }) => ask({ message: 'Which?', fields: [size, count] }));
    const [state] = (await (await started(component)).look()).open;
    expect(() => readAnswer(state!, { values })).toThrow(message);
    expect(readAnswer(state!, { values: { count: 1 } })).toBeUndefined();
  });

  test('gets the value of a field named __proto__, and nothing else changes', async () => {
    const fields: InputField[] = [{ name: '__proto__', type: 'dict' }];
    const { component } = asking(async ({ ask }) => {
      const { values } = (await ask({ message: 'Which?', fields })) as { values: object };
      return [Object.entries(values), 'polluted' in {}, 'polluted' in values];
    });
    const run = await started(component);
    const values = JSON.parse('{"__proto__":{"polluted":true}}');
    const { tools } = await run.reply({ 'call pay': { values } });
    expect(tools).toMatchObject([{ result: '[[["__proto__",{"polluted":true}]],false,false]' }]);
    expect(JSON.stringify(tools[0]!.user_input_schema)).toContain('"value":{"polluted":true}');
  });

  test('gets an answer for the same words only, after the same questions', async () => {
    const price = { now: 5 };
    const { component } = asking(async ({ ask }) => {
      await ask({ message: `Pay ${price.now}?` });
      await ask({ message: 'Sure?' });
      return 'paid';
    });
    const run = await started(component);
    await run.reply({ 'call pay': { confirmed: true } });
    price.now = 500;
    const asked: string[] = [];
    for (let { open } = await run.look(); open.length > 0; ) {
      asked.push(open[0]!.requirement.message!);
      ({ open } = await run.reply({ 'call pay': { confirmed: true } }));
    }
    expect(asked).toEqual(['Sure?', 'Pay 500?', 'Sure?']);
  });

  test.each([z.string(), { type: 'text' }, 'string'])(
    'cannot ask for a value that nothing fits: %#',
    async (schema) => {
      const fields = [{ ...size, schema: schema as never }];
      const { component } = asking(({ ask }) => ask({ message: 'Which?', fields }));
      const { tools } = await (await started(component)).look();
      expect(tools).toMatchObject([
        { tool_call_error: true, result: expect.stringContaining('Give a JSON schema') },
      ]);
    },
  );

  test('cannot ask without end, nor with an invalid form', async () => {
    const { component } = asking(async ({ ask }) => {
      const twice = ask({ message: 'x', fields: [size, size] });
      const many = Array.from({ length: 21 }, (_, number) => ask({ message: `${number}` }));
      const asked = await Promise.allSettled([...many, ask({ message: '' }), twice]);
      return asked.map((one) => (one.status === 'fulfilled' ? one.value.action : String(one.reason)));
    });
    const run = await started(component);
    expect((await run.look()).open).toHaveLength(20);
    const [call] = (await run.reply({ 'call pay': { confirmed: true } })).tools;
    expect(JSON.parse(String(call?.result))).toEqual([
      ...Array(20).fill('accept'),
      expect.stringContaining("'pay' asks more than 20 questions"),
      expect.stringContaining("The question of 'pay': message is ''"),
      expect.stringContaining('two fields of the same name'),
    ]);
  });

  test.each<[string, Options]>([
    ['makes a result of the rejection', { cacheResults: true }],
    ['is retried', { retries: 2 }],
    ['has a hook that makes a result of it', { hooks: [(_call, next) => next().catch(() => 'hooked')] }],
  ])('waits for the answer also when it %s', async (_, options) => {
    const { component, executions } = asking(async ({ ask }) => {
      const answer = await ask({ message: 'Sure?' }).catch((error) => {
        if (options.retries !== undefined) throw new Error('wrapped', { cause: error });
        return { action: 'none' };
      });
      return answer.action;
    }, options);
    const run = await started(component);
    expect((await run.look()).run.status).toBe('paused');
    expect(executions()).toBe(1);
    expect((await run.reply({ 'call pay': { confirmed: true } })).tools).toMatchObject([
      { result: 'accept' },
    ]);
  });

  test('waits for the answer also when it ends before it learns that it waits', async () => {
    const { component } = asking(({ ask }) => {
      Promise.resolve()
        .then(() => ask({ message: 'Sure?' }))
        .catch(() => {});
      return 'done';
    });
    const run = await started(component);
    expect((await run.look()).run.status).toBe('paused');
    const { run: ended, open } = await run.reply({ 'call pay': { confirmed: true } });
    expect(ended.status).toBe('completed');
    expect(open).toEqual([]);
  });

  test('asks several questions at once and is executed when all are answered', async () => {
    const { component, executions } = asking(async ({ ask }) => {
      const all = await Promise.all(['a', 'b'].map((message) => ask({ message, fields: [count] })));
      return all.map(said);
    });
    const run = await started(component);
    const { open } = await run.look();
    expect(open.map(({ requirement }) => requirement.message)).toEqual(['a', 'b']);
    const half = await run.answerAll((state) =>
      state.requirement.message === 'b' ? readAnswer(state, { values: { count: 2 } }) : undefined,
    );
    expect(half).toMatchObject({ run: { status: 'paused' }, open: [{ requirement: { message: 'a' } }] });
    expect(executions()).toBe(1);
    expect((await run.reply({ 'call pay': { values: { count: 1 } } })).tools).toMatchObject([
      { result: '[{"count":1},{"count":2}]' },
    ]);
  });

  test('is rejected after its call has ended, and outside of its execution', async () => {
    let late!: ToolContext['ask'];
    let hooked = '';
    const { component } = asking(
      ({ ask }) => {
        late = ask;
        return 'done';
      },
      {
        hooks: [
          async ({ context }, next) => {
            hooked = String(await context.ask({ message: 'In a hook?' }).catch(String));
            return next();
          },
        ],
      },
    );
    const { run, steps } = await (await started(component)).look();
    await expect(late({ message: 'Still there?' })).rejects.toThrow('the call of the tool has ended');
    expect(hooked).toContain('Only a tool that an agent calls can ask');
    expect(run.status).toBe('completed');
    expect(steps.filter(({ kind }) => kind === 'wait')).toEqual([]);
  });
});

describe('a question of a tool that must not be executed twice', () => {
  test.each<[string, Options]>([
    ['ask', { sideEffects: true }],
    ['fail', { onUnknownOutcome: 'fail' }],
    ['a confirmation', { requiresConfirmation: true }],
    ['an approval', { approval: 'required' }],
  ])('is no unknown outcome, and the word for the call still counts: %s', async (_, options) => {
    const { component, executions } = asking(
      async ({ ask }) => (await ask({ message: 'Sure?' })).action,
      options,
    );
    const run = await started(component);
    if (options.requiresConfirmation) await run.reply({ 'call pay': { confirmed: true } });
    if (options.approval) await run.answerAll((state) => answerOfApproval(state, decided('approved')));
    const { open, tools } = await run.look();
    expect(open).toMatchObject([{ requirement: { kind: 'confirmation', message: 'Sure?' } }]);
    expect(tools).toMatchObject([{ confirmed: null }]);
    const ended = await run.reply({ 'call pay': { confirmed: true } });
    expect(ended).toMatchObject({ run: { status: 'completed' }, tools: [{ result: 'accept' }] });
    expect(executions()).toBe(2);
  });

  test('leaves the outcome unknown when the process dies after the answer', async () => {
    const reached = gate();
    let hangs = true;
    const { component } = asking(
      async ({ ask }) => {
        const { action } = await ask({ message: 'Sure?' });
        if (!hangs) return action;
        reached.open();
        return new Promise(() => {});
      },
      { sideEffects: true },
    );
    const store = await freshStore();
    const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const { runId, ended } = await begin(dead, component);
    await ended;
    const [state] = (await pausedRun(store, dead, runId).look()).open;
    const answer = toWaitOutput(state!, readAnswer(state!, { confirmed: true })!);
    await dead.answer(runId, answers({ [state!.waitKey]: answer }));
    await reached.promise;
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    hangs = false;
    const next = engineOver(store, [component]);
    await next.recover();
    await expect.poll(async () => (await store.load(runId))?.run.status).toBe('paused');
    const run = pausedRun(store, next, runId);
    expect((await run.look()).open).toMatchObject([{ requirement: { kind: 'unknown_outcome' } }]);
    const ended2 = await run.reply({ 'call pay': { confirmed: true } });
    expect(ended2).toMatchObject({ run: { status: 'completed' }, tools: [{ result: 'accept' }] });
  });
});

describe('a question inside another run', () => {
  const asker = () =>
    tool({
      name: 'pay',
      description: 'Pays',
      execute: async (_args, { ask }) => said(await ask({ message: 'Which size?', fields: [size] })) as Json,
    });
  const member = () =>
    agent({
      id: 'member',
      name: 'Member',
      model: scriptedModel([{ toolCalls: [call('pay', {})] }, 'Paid.']),
      tools: [asker()],
    });

  test('reaches the tool through agent.continue', async () => {
    const own = member();
    const { runId, requirements } = pausedOutput(await own.run('Pay'));
    const requirement = requirements[0]!;
    expect(requirement).toMatchObject({ kind: 'user_input', message: 'Which size?' });
    const ended = await own.continue(runId, {
      answers: { [requirement.id]: { values: { size: 'S' } } },
    });
    expect(ended.tools).toMatchObject([{ result: '{"size":"S"}' }]);
  });

  test('reaches the tool of a member of a team', async () => {
    const delegate = { name: 'delegate_task_to_member', arguments: { member_id: 'member', task: 'Pay' } };
    const desk = team({
      id: 'team',
      model: scriptedModel([{ toolCalls: [{ ...delegate, id: 'd' }] }, 'All paid.']),
      members: [member()],
    });
    const paused = await desk.run('Pay');
    expect(paused.status).toBe('paused');
    const ended = await desk.continue(paused.runId, { answers: { 'call pay': { values: { size: 'M' } } } });
    expect(ended).toMatchObject({ status: 'completed', content: 'All paid.' });
  });

  test('reaches the tool of an agent in a step of a workflow', async () => {
    const flow = workflow({ id: 'flow', steps: [step({ name: 'pay', agent: member() })] });
    const paused = await flow.run('Pay');
    expect(paused.status).toBe('paused');
    const ended = await flow.continue(paused.runId, {
      answers: { pay: { calls: { 'call pay': { values: { size: 'M' } } } } },
    });
    expect(ended).toMatchObject({ status: 'completed', content: 'Paid.' });
  });
});
