import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepEntry,
  step,
  steps,
  type TeamMember,
  team,
  tool,
  type WorkflowSettings,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { abandoned, Deeds, flow, type ToolSettings, waiting } from './changed-code.js';

const send = (deeds: Deeds, settings?: ToolSettings, name = 'send-newsletter') =>
  deeds.confirmedTool(name, settings);

const call = (name: string, args = {}) => ({ name, arguments: args, id: `call ${name}` });

/** Calls tools, all in one turn, and says that it is done once it has their results. */
const callsOnce = (...calls: ReturnType<typeof call>[]) =>
  scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls: calls },
  );

const calling = (names: readonly string[], settings: Partial<Parameters<typeof agent>[0]>) =>
  agent({
    id: 'mailer',
    model: callsOnce(...names.map((name) => call(name))),
    ...settings,
  });

/** A step that never ends. */
const stuck = (name = 'stuck') => step({ name, run: () => new Promise<string>(() => {}) });

describe('a workflow that waits', () => {
  test('an inserted step is refused: a confirmation lets nothing else through', async () => {
    const deeds = new Deeds();
    const before = flow(deeds.does('collect'), deeds.confirmed('send-newsletter'));
    const run = await waiting(before);
    const inserted = deeds.confirmed('delete-subscribers');
    const after = flow(deeds.does('collect'), inserted, deeds.confirmed('send-newsletter'));
    await run.refusedBy(after, "step 2 was 'send-newsletter' (function), and is now 'delete-subscribers'");
    expect(deeds.list).toEqual(['collect']);
    const { run: ended } = await run.continuedBy(before);
    expect(ended.status).toBe('completed');
    expect(deeds.list).toEqual(['collect', 'send-newsletter']);
  });

  test('an inserted step without a confirmation is refused too', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(deeds.does('collect'), deeds.confirmed('send')));
    await run.refusedBy(
      flow(deeds.does('collect'), deeds.does('wipe'), deeds.confirmed('send')),
      "now 'wipe'",
    );
    await run.refusedBy(
      flow(deeds.does('wipe'), deeds.does('collect'), deeds.confirmed('send')),
      "now 'wipe'",
    );
    expect(deeds.list).toEqual(['collect']);
  });

  test('new steps after the last recorded one are done', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(deeds.does('collect'), deeds.confirmed('send')));
    const after = flow(deeds.does('collect'), deeds.confirmed('send'), deeds.does('report'));
    expect((await run.continuedBy(after)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['collect', 'send', 'report']);
  });

  test.each([
    ['asks', { suspend: 'really?' }],
    ['waits for an event', { event: 'paid' }],
    ['has a run that asks', { run: true }],
  ])('new steps after a function that %s are done', async (_, what) => {
    const deeds = new Deeds();
    const mailer = agent({
      id: 'mailer',
      model: scriptedModel(({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls: [call('send')] },
      ),
      tools: [deeds.confirmedTool('send')],
    });
    const waits = (name: string) =>
      step({
        name,
        run: async ({ suspend, waitForEvent, run }) => {
          if ('suspend' in what) await suspend('really?');
          else if ('event' in what) await waitForEvent('paid');
          else await run(mailer, 'go');
          return deeds.note(name);
        },
      });
    const run = await waiting(flow(deeds.does('collect'), waits('pay')));
    const after = flow(deeds.does('collect'), waits('pay'), deeds.does('report'));
    expect((await run.replayedBy(after)).difference).toBeUndefined();
    const within = (...list: StepEntry[]) =>
      workflow({ id: 'outer', steps: [step({ name: 'inner', workflow: flow(...list) })] });
    const nested = await waiting(within(waits('pay')));
    expect((await nested.replayedBy(within(waits('pay'), deeds.does('report')))).difference).toBeUndefined();
    await expect(run.replayedBy(flow(deeds.does('collect'), waits('charge')))).resolves.toMatchObject({
      difference: { is: expect.stringContaining("'charge'") },
    });
    if ('event' in what) return;
    expect((await run.continuedBy(after)).run.status).toBe('completed');
    expect(deeds.list.filter((deed) => deed !== 'send')).toEqual(['collect', 'pay', 'report']);
  });

  test('a changed function body, description or message is no difference', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(deeds.does('collect'), deeds.confirmed('send')));
    const after = flow(
      step({ name: 'collect', description: 'new', run: () => deeds.note('another body') }),
      step({
        name: 'send',
        review: { requiresConfirmation: true, confirmationMessage: 'Really?' },
        run: () => deeds.note('sent otherwise'),
      }),
    );
    expect((await run.continuedBy(after)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['collect', 'sent otherwise']);
  });

  test('changed limits, also where a function chooses them, are no difference', async () => {
    const limited = (limits: WorkflowSettings['limits'], ...list: StepEntry[]) =>
      workflow({ id: 'newsletter', steps: list, ...(limits !== undefined && { limits }) });
    for (const [was, is] of [
      [{ steps: 5 }, () => ({ steps: 3 })],
      [() => ({ steps: 3 }), undefined],
    ]) {
      const deeds = new Deeds();
      const run = await waiting(limited(was, deeds.does('collect'), deeds.confirmed('send')));
      const after = limited(is, deeds.does('collect'), deeds.confirmed('send'), deeds.does('new'));
      expect((await run.continuedBy(after)).run.status).toBe('completed');
      expect(deeds.list).toEqual(['collect', 'send', 'new']);
    }
  });

  test.each([
    ['a removed step', (d: Deeds) => [d.confirmed('send')]],
    ['a removed last step', (d: Deeds) => [d.does('collect')]],
    ['a renamed step', (d: Deeds) => [d.does('gather'), d.confirmed('send')]],
    ['swapped steps', (d: Deeds) => [d.confirmed('send'), d.does('collect')]],
    [
      'a step that became a group',
      (d: Deeds) => [steps({ name: 'collect', steps: [d.does('a')] }), d.confirmed('send')],
    ],
    ['a step of another kind', (d: Deeds) => [d.asks('collect'), d.confirmed('send')]],
    ['a step that lost its confirmation', (d: Deeds) => [d.does('collect'), d.does('send')]],
    [
      'a step that asks for something else',
      (d: Deeds) => [
        d.does('collect'),
        step({ name: 'send', review: { requiresOutputReview: true }, run: () => d.note('send') }),
      ],
    ],
  ])('%s is refused', async (_, after) => {
    const deeds = new Deeds();
    const before = flow(deeds.does('collect'), deeds.confirmed('send'));
    const run = await waiting(before);
    await run.refusedBy(flow(...after(deeds)), 'has changed since this run was last executed');
    expect(deeds.list).toEqual(['collect']);
    expect((await run.continuedBy(before)).run.status).toBe('completed');
  });

  test('a rejected step that lost its confirmation is not done', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(deeds.confirmed('send')));
    await run.refusedBy(flow(deeds.does('send')), 'the question at step 1', { send: { confirmed: false } });
    expect(deeds.list).toEqual([]);
  });

  test('another agent under the same step name is refused, also after the step has ended', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(deeds.asks('write', 'ann'), deeds.confirmed('send')));
    await run.refusedBy(
      flow(deeds.asks('write', 'bob'), deeds.confirmed('send')),
      "step 1 was 'write' (agent 'ann'), and is now 'write' (agent 'bob')",
    );
  });

  test('an edited step without a name is refused', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(() => deeds.note('first'), deeds.confirmed('send')));
    await run.refusedBy(
      flow(() => deeds.note('other'), deeds.confirmed('send')),
      'function unnamed',
    );
    await run.refusedBy(flow(step({ run: () => deeds.note('x') }), deeds.confirmed('send')), 'step 1');
    expect((await run.continuedBy(flow(() => deeds.note('first'), deeds.confirmed('send')))).run.status).toBe(
      'completed',
    );
  });

  test('other fields for a person to fill in are refused', async () => {
    const deeds = new Deeds();
    const asking = (...names: string[]) =>
      flow(
        step({
          name: 'send',
          review: { userInputSchema: names.map((name) => ({ name })) },
          run: () => deeds.note('send'),
        }),
      );
    const run = await waiting(asking('to'));
    await run.refusedBy(asking('to', 'amount'), 'the input (to: str, amount: str)', {
      send: { user_input: { to: 'ann' } } as never,
    });
  });
});

describe('groups of a workflow that waits', () => {
  const group = (deeds: Deeds, ...names: string[]) => names.map((name) => deeds.does(name));

  test.each([
    ['steps', (d: Deeds, ...n: string[]) => steps({ name: 'g', steps: group(d, ...n) })],
    ['parallel', (d: Deeds, ...n: string[]) => parallel({ name: 'g', steps: group(d, ...n) })],
    ['loop', (d: Deeds, ...n: string[]) => loop({ name: 'g', maxIterations: 2, steps: group(d, ...n) })],
    ['condition', (d: Deeds, ...n: string[]) => condition({ name: 'g', when: true, steps: group(d, ...n) })],
    ['steps without a name', (d: Deeds, ...n: string[]) => steps(group(d, ...n))],
  ])('a step added to a group that has ended is refused: %s', async (_, grouped) => {
    const deeds = new Deeds();
    const run = await waiting(flow(grouped(deeds, 'a', 'b'), deeds.confirmed('send')));
    const done = [...deeds.list];
    await run.refusedBy(flow(grouped(deeds, 'a', 'b', 'c'), deeds.confirmed('send')), "'c' (function)");
    await run.refusedBy(flow(grouped(deeds, 'a', 'x', 'b'), deeds.confirmed('send')), "'x' (function)");
    await run.refusedBy(flow(grouped(deeds, 'a'), deeds.confirmed('send')), "'b'");
    expect(deeds.list).toEqual(done);
    expect((await run.continuedBy(flow(grouped(deeds, 'a', 'b'), deeds.confirmed('send')))).run.status).toBe(
      'completed',
    );
  });

  test('new steps at the end of a group that waits are done', async () => {
    const deeds = new Deeds();
    const run = await waiting(flow(steps({ name: 'g', steps: [deeds.does('a'), deeds.confirmed('b')] })));
    const after = flow(steps({ name: 'g', steps: [deeds.does('a'), deeds.confirmed('b'), deeds.does('c')] }));
    expect((await run.continuedBy(after)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['a', 'b', 'c']);
  });

  test('a moved branch is refused, one that was added at the end is done', async () => {
    const deeds = new Deeds();
    const branches = (...list: StepEntry[]) => flow(parallel({ name: 'p', steps: list }));
    const waits = calling(['send-newsletter'], { tools: [send(deeds)] });
    const [a, b] = [deeds.does('a'), step({ name: 'b', agent: waits })];
    const run = await waiting(branches(a, b));
    await run.refusedBy(branches(b, a), "step 1.1 was 'a' (function), and is now 'b' (agent 'mailer')");
    expect((await run.continuedBy(branches(a, b, deeds.does('c')))).run.status).toBe('completed');
    expect(deeds.list).toEqual(['a', 'c', 'send-newsletter']);
  });

  test('a changed condition is refused while its group is running, and is no difference after it', async () => {
    const deeds = new Deeds();
    const list = (when: string, inside: StepEntry, ...more: StepEntry[]) =>
      flow(condition({ name: 'c', when, steps: [inside] }), ...more);
    const inside = await waiting(list('input == "hello"', deeds.confirmed('send')));
    await inside.refusedBy(list('input != ""', deeds.confirmed('send')), 'input != ""');
    const after = await waiting(list('input == "hello"', deeds.does('a'), deeds.confirmed('send')));
    const changed = list('input != ""', deeds.does('a'), deeds.confirmed('send'));
    expect((await after.continuedBy(changed)).run.status).toBe('completed');
  });

  test('an edited condition without a name: one that was not met does not answer for another one', async () => {
    const deeds = new Deeds();
    const list = (when: string) =>
      flow(condition({ when, steps: [deeds.does('wipe')] }), deeds.confirmed('send'));
    const run = await waiting(list('input == "x"'));
    await run.refusedBy(list('input == "hello"'), 'input == "hello"');
  });

  test('more or fewer iterations of a loop that has ended are no difference', async () => {
    const deeds = new Deeds();
    const list = (maxIterations: number) =>
      flow(loop({ name: 'l', maxIterations, steps: [deeds.does('a')] }), deeds.confirmed('send'));
    const run = await waiting(list(2));
    expect((await run.continuedBy(list(5))).run.status).toBe('completed');
    expect(deeds.list).toEqual(['a', 'a', 'send']);
  });

  test('a loop in an iteration that the code no longer has is refused', async () => {
    const deeds = new Deeds();
    const list = (maxIterations: number) =>
      flow(
        loop({
          name: 'l',
          maxIterations,
          steps: [deeds.does('a')],
          review: { requiresIterationReview: true },
        }),
      );
    const run = await waiting(list(3));
    const { run: second } = await run.continuedBy(list(3));
    expect(second.status).toBe('paused');
    await run.refusedBy(list(1), 'the code no longer has it');
    expect((await run.continuedBy(list(2))).run.status).toBe('completed');
  });

  test('changed choices of a router: the run takes the choice that was made, or none', async () => {
    const deeds = new Deeds();
    const list = (...names: string[]) =>
      flow(router({ name: 'r', select: 'user', choices: names.map((name) => deeds.does(name)) }));
    const run = await waiting(list('a', 'b'));
    const chosen = { r: { selected_choices: ['b'] } as never };
    await run.refusedBy(list('a', 'c'), "with the choice 'b'", chosen);
    expect(deeds.list).toEqual([]);
    expect((await run.continuedBy(list('new', 'b', 'a'), chosen)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['b']);
  });
});

describe('a workflow whose process died', () => {
  test('an inserted step ends the run, which runs on when the earlier code is back', async () => {
    const deeds = new Deeds();
    const run = await abandoned(flow(deeds.does('collect'), stuck('send')), (keys) =>
      keys.includes('node:1 running'),
    );
    const inserted = flow(deeds.does('collect'), deeds.does('wipe'), deeds.does('send'));
    const { run: ended, engine } = await run.recoveredBy(inserted);
    expect(ended).toMatchObject({
      status: 'error',
      result: { error: { type: 'definition_changed', message: expect.stringContaining("now 'wipe'") } },
    });
    expect(deeds.list).toEqual(['collect']);
    await engine.stop(0);
    const { run: done } = await run.retriedBy(flow(deeds.does('collect'), deeds.does('send')));
    expect(done.status).toBe('completed');
    expect(deeds.list).toEqual(['collect', 'send']);
  });

  test('new steps after the one that was at work are done', async () => {
    const deeds = new Deeds();
    const run = await abandoned(flow(deeds.does('a'), stuck()), (keys) => keys.includes('node:1 running'));
    const { run: ended } = await run.recoveredBy(flow(deeds.does('a'), deeds.does('stuck'), deeds.does('b')));
    expect(ended.status).toBe('completed');
    expect(deeds.list).toEqual(['a', 'stuck', 'b']);
  });

  test('a run from before there were fingerprints is compared step by step', async () => {
    const deeds = new Deeds();
    const before = flow(deeds.does('a'), deeds.confirmed('send'));
    const run = await waiting(before);
    const { run: stored } = await run.look();
    const { attempt, runId } = stored;
    const update = { ...stored, definition: null };
    await run.store.commit([{ runId, attempt, update, steps: [] }]);
    await run.refusedBy(flow(deeds.does('b'), deeds.confirmed('send')), "now 'b'");
    expect((await run.continuedBy(before)).run.status).toBe('completed');
  });
});

test('what a workflow that is one function runs belongs to the component that began it', async () => {
  const deeds = new Deeds();
  const mailer = (id: string) => calling(['send-newsletter'], { id, tools: [send(deeds)] });
  const whole = (id: string) =>
    workflow({
      id: 'newsletter',
      steps: async ({ run }) => `sent: ${String(await run(mailer(id), 'x', 'mail'))}`,
    });
  const changed = await waiting(whole('ann'));
  // what the function runs is known when it is executed: the run ends there
  const { run: ended } = await changed.continuedBy(whole('bob'));
  expect(ended.result?.error).toMatchObject({
    type: 'definition_changed',
    message: expect.stringContaining("was agent 'ann', and is now agent 'bob'"),
  });
  expect(deeds.list).toEqual([]);
  expect((await changed.retriedBy(whole('ann'))).run.status).toBe('completed');
  expect(deeds.list).toEqual(['send-newsletter']);

  const old = await waiting(whole('ann'));
  const { run } = await old.look();
  const update = { ...run, definition: null };
  await old.store.commit([{ runId: run.runId, attempt: run.attempt, update, steps: [] }]);
  expect((await old.continuedBy(whole('ann'))).run.status).toBe('completed');
});

describe('an agent that waits', () => {
  test('a removed tool that waits for confirmation is refused', async () => {
    const deeds = new Deeds();
    const before = calling(['send-newsletter'], { tools: [send(deeds)] });
    const run = await waiting(before);
    await run.refusedBy(
      calling([], { tools: [send(deeds, {}, 'delete-subscribers')] }),
      "was the confirmation of 'send-newsletter', and is now without the tool 'send-newsletter'",
      { 'send-newsletter': { confirmed: true } },
    );
    expect(deeds.list).toEqual([]);
    const { run: ended } = await run.continuedBy(before, { 'send-newsletter': { confirmed: true } });
    expect(ended.status).toBe('completed');
    expect(deeds.list).toEqual(['send-newsletter']);
  });

  test('changed instructions, models and descriptions are no difference', async () => {
    const deeds = new Deeds();
    const run = await waiting(calling(['send-newsletter'], { tools: [send(deeds)] }));
    const after = agent({
      id: 'mailer',
      instructions: 'Be brief.',
      model: scriptedModel(['Done otherwise.'], { id: 'another-model' }),
      tools: [send(deeds, { description: 'Sends it.' }), send(deeds, {}, 'further')],
    });
    const { run: ended } = await run.continuedBy(after, { 'send-newsletter': { confirmed: true } });
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'Done otherwise.' } });
    expect(deeds.list).toEqual(['send-newsletter']);
  });

  test('arguments that the tool no longer takes are refused', async () => {
    const deeds = new Deeds();
    const pay = (inputSchema: z.ZodType) => send(deeds, { inputSchema } as never, 'pay');
    const before = agent({
      id: 'mailer',
      model: callsOnce(call('pay', { cents: 5 })),
      tools: [pay(z.object({ cents: z.number() }))],
    });
    const run = await waiting(before);
    const after = (inputSchema: z.ZodType) => calling([], { tools: [pay(inputSchema)] });
    await run.refusedBy(after(z.object({ euros: z.number() })), 'no longer takes the arguments', {
      pay: { confirmed: true },
    });
    await run.refusedBy(after(z.object({ cents: z.string() })), 'cents must be string', {
      pay: { confirmed: true },
    });
    const wider = calling([], { tools: [pay(z.object({ cents: z.number(), to: z.string().optional() }))] });
    await run.continuedBy(wider, { pay: { confirmed: true } });
    expect(deeds.list).toEqual(['pay']);
  });

  test('a tool that asks for something else is refused; a tool that no longer asks still heeds the answer', async () => {
    const deeds = new Deeds();
    const make = (options: ToolSettings) => calling(['send-newsletter'], { tools: [send(deeds, options)] });
    const run = await waiting(make({}));
    const said = { 'send-newsletter': { confirmed: false } };
    await run.refusedBy(
      make({ requiresConfirmation: false, externalExecution: true, execute: undefined } as never),
      "the external result of 'send-newsletter'",
      said,
    );
    expect((await run.continuedBy(make({ requiresConfirmation: false }), said)).run.status).toBe('completed');
    expect(deeds.list).toEqual([]);
  });

  test('a tool that now asks is asked about before it is executed', async () => {
    const deeds = new Deeds();
    const other = (options: ToolSettings) => send(deeds, options, 'other');
    const model = () =>
      scriptedModel([{ toolCalls: [call('send-newsletter')] }, { toolCalls: [call('other')] }, 'Done.']);
    const make = (options: ToolSettings) =>
      agent({ id: 'mailer', model: model(), tools: [send(deeds), other(options)] });
    const run = await waiting(make({ requiresConfirmation: false }));
    const after = agent({
      id: 'mailer',
      model: scriptedModel([{ toolCalls: [call('other')] }, 'Done.']),
      tools: [send(deeds), other({})],
    });
    const { run: again } = await run.continuedBy(after, { 'send-newsletter': { confirmed: true } });
    expect(again.status).toBe('paused');
    expect(deeds.list).toEqual(['send-newsletter']);
  });

  const hook = (deeds: Deeds, name: string) => ({ name, run: () => void deeds.note(name) });

  test.each([
    ['an inserted hook', ['check', 'first'], "'first' (hook)"],
    ['a hook in front', ['first', 'check'], "pre-hook 1 was 'check' (hook), and is now 'first' (hook)"],
    ['a removed hook', [], 'the code no longer has it'],
    ['a renamed hook', ['verify'], "now 'verify' (hook)"],
  ])('%s is refused', async (_, names, text) => {
    const deeds = new Deeds();
    const make = (list: readonly string[]) =>
      calling(['send-newsletter'], { tools: [send(deeds)], preHooks: list.map((name) => hook(deeds, name)) });
    const run = await waiting(make(['check']));
    await run.refusedBy(make(names), text, { 'send-newsletter': { confirmed: true } });
    expect(deeds.list).toEqual(['check']);
  });

  test('an edited hook without a name is refused', async () => {
    const deeds = new Deeds();
    const make = (preHook: () => void) =>
      calling(['send-newsletter'], { tools: [send(deeds)], preHooks: [preHook] });
    const anonymous = [() => void deeds.note('one'), () => void deeds.note('two')];
    const run = await waiting(make(anonymous[0]!));
    await run.refusedBy(make(anonymous[1]!), 'unnamed', { 'send-newsletter': { confirmed: true } });
  });

  test('changed hooks after the conversation are accepted', async () => {
    const deeds = new Deeds();
    const make = (...names: string[]) =>
      calling(['send-newsletter'], {
        tools: [send(deeds)],
        postHooks: names.map((name) => hook(deeds, name)),
      });
    const run = await waiting(make('old'));
    await run.continuedBy(make('new', 'newer'), { 'send-newsletter': { confirmed: true } });
    expect(deeds.list).toEqual(['send-newsletter', 'new', 'newer']);
  });
});

describe('an agent whose process died', () => {
  test('a call in progress whose tool was removed is not reported as unknown to the model: the run ends', async () => {
    const deeds = new Deeds();
    const slow = tool({
      name: 'send',
      description: 'x',
      sideEffects: true,
      execute: () => new Promise<string>(() => {}),
    });
    const before = calling(['send'], { tools: [slow] });
    const run = await abandoned(before, (keys) => keys.includes('tool:0:0 running'));
    const { run: ended } = await run.recoveredBy(calling([], { tools: [send(deeds, {}, 'wipe')] }));
    expect(ended.result?.error).toMatchObject({
      type: 'definition_changed',
      message: expect.stringContaining("without the tool 'send'"),
    });
  });
});

describe('a team that waits', () => {
  const member = (deeds: Deeds, id: string) =>
    agent({
      id,
      model: callsOnce(call('send-newsletter')),
      tools: [send(deeds)],
    });
  const leader = () => callsOnce(call('delegate_task_to_member', { member_id: 'ann', task: 'x' }));
  const said = { 'send-newsletter': { confirmed: true } };

  test('a removed member is refused, also within a workflow', async () => {
    const deeds = new Deeds();
    const of = (...ids: string[]) =>
      team({ id: 't', model: leader(), members: ids.map((id) => member(deeds, id)) });
    const run = await waiting(of('ann', 'bob'));
    await run.refusedBy(of('bob'), "was 'ann' (member), and the code no longer has it", said);
    const inside = await waiting(flow(step({ name: 's', team: of('ann', 'bob') })));
    await inside.refusedBy(flow(step({ name: 's', team: of('bob') })), 'within step 1', said);
    expect(deeds.list).toEqual([]);
    expect((await run.continuedBy(of('ann', 'bob', 'cid'), said)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['send-newsletter']);
  });

  test('a removed tool of a member is refused', async () => {
    const deeds = new Deeds();
    const of = (ann: TeamMember) => team({ id: 't', model: leader(), members: [ann] });
    const run = await waiting(of(member(deeds, 'ann')));
    await run.refusedBy(
      of(calling([], { id: 'ann', tools: [] })),
      "without the tool 'send-newsletter'",
      said,
    );
  });
});

test('a replay executes nothing', async () => {
  const deeds = new Deeds();
  const make = () =>
    agent({
      id: 'mailer',
      model: scriptedModel(() => {
        deeds.note('model');
        return { toolCalls: [call('send-newsletter')] };
      }),
      instructions: () => deeds.note('instructions'),
      dependencies: { d: () => deeds.note('dependency') },
      preHooks: [{ name: 'check', run: () => void deeds.note('hook') }],
      toolHooks: [(_, next) => next().finally(() => deeds.note('tool hook'))],
      tools: [
        send(deeds, {
          requiresConfirmation: () => {
            deeds.note('gate');
            return true;
          },
        }),
        {
          name: 'server',
          tools: async () => {
            deeds.note('source');
            return [];
          },
          close: async () => {},
        },
      ],
    });
  const inside = (d: Deeds) => flow(d.does('a'), step({ name: 'mail', agent: make() }), d.does('b'));
  const run = await waiting(inside(deeds));
  deeds.list.length = 0;
  const { difference, leftOut } = await run.replayedBy(inside(deeds));
  expect(difference).toBeUndefined();
  expect(leftOut).toEqual(["the tools of 'server'"]);
  expect(deeds.list).toEqual([]);
});
