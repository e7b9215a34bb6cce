import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentFactory } from '../../../src/core/factories/agent-factory.js';
import type { Run } from '../../../src/core/runs/run.js';
import { workflowRequirementsOf } from '../../../src/core/workflows/review/workflow-requirements.js';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepEntry,
  step,
  steps,
  type Tool,
  type ToolEntry,
  team,
  type WorkflowContext,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { Deeds, flow, type ToolSettings, waiting } from './changed-code.js';

const review = { requiresConfirmation: true };

const send = (deeds: Deeds, settings?: ToolSettings, name = 'send') => deeds.confirmedTool(name, settings);

/** Calls `send` and says that it is done once it has the result. */
const mailer = (...tools: readonly ToolEntry[]) =>
  agent({
    id: 'mailer',
    model: scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? 'Done.'
        : { toolCalls: [{ name: 'send', arguments: {}, id: 'call 1' }] },
    ),
    tools,
  });

const server = (...tools: Tool[]) => ({ name: 'server', tools: async () => tools, close: async () => {} });
const said = { send: { confirmed: true } };

describe('other steps in a group or an inner workflow that a person confirmed as a whole', () => {
  const nested = (...list: StepEntry[]) =>
    step({ name: 'g', review, workflow: workflow({ id: 'inner', steps: list }) });

  test.each([
    ['steps', (list: StepEntry[]) => steps({ name: 'g', review, steps: list })],
    ['parallel', (list: StepEntry[]) => parallel({ name: 'g', review, steps: list })],
    ['loop', (list: StepEntry[]) => loop({ name: 'g', review, maxIterations: 1, steps: list })],
    ['condition', (list: StepEntry[]) => condition({ name: 'g', review, when: true, steps: list })],
    ['a workflow inside', (list: StepEntry[]) => nested(...list)],
    [
      'a group inside',
      (list: StepEntry[]) => steps({ name: 'g', review, steps: [steps({ name: 'h', steps: list })] }),
    ],
  ])('%s', async (_, grouped) => {
    const deeds = new Deeds();
    const before = flow(grouped([deeds.does('send')]));
    const run = await waiting(before);
    await run.refusedBy(flow(grouped([deeds.does('wipe'), deeds.does('send')])), "'wipe' (function), 'send'");
    await run.refusedBy(flow(grouped([deeds.does('wipe')])), "'wipe' (function)");
    expect(deeds.list).toEqual([]);
    const { run: stored, steps: journal } = await run.look();
    const [waits] = workflowRequirementsOf(stored, journal).open;
    expect(waits?.body).toMatchObject({ step_name: 'g', requires_confirmation: true });
    expect(waits?.body).not.toHaveProperty('covers');
    expect((await run.continuedBy(before)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['send']);
  });

  test('a way that a person chose is still the same thing', async () => {
    const deeds = new Deeds();
    const list = (...choices: StepEntry[]) => flow(router({ name: 'r', select: 'user', choices }));
    const run = await waiting(list(deeds.does('a'), deeds.does('b')));
    const chosen = { r: { selected_choices: ['b'] } as never };
    const other = steps({ name: 'b', steps: [deeds.does('wipe')] });
    await run.refusedBy(list(deeds.does('a'), other), "with the choice 'b' (function)", chosen);
    expect(deeds.list).toEqual([]);
    await run.continuedBy(list(deeds.does('new'), deeds.does('b'), deeds.does('a')), chosen);
    expect(deeds.list).toEqual(['b']);
  });
});

describe('a tool that now needs an approval, or a record of the approver', () => {
  test('a confirmation is no approval', async () => {
    const deeds = new Deeds();
    const run = await waiting(mailer(send(deeds)));
    await run.refusedBy(mailer(send(deeds, { approval: 'required' })), '(with an approval)', said);
    await run.refusedBy(mailer(send(deeds, { approval: 'audit' })), '(with a record of who agreed)', said);
    expect(deeds.list).toEqual([]);
    expect((await run.continuedBy(mailer(send(deeds)), said)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['send']);
  });
});

describe('what only the execution can see', () => {
  const changes: [string, ToolSettings | undefined, string][] = [
    ['is gone', undefined, "without the tool 'send'"],
    [
      'takes other arguments',
      { inputSchema: z.object({ everyone: z.boolean() }) } as never,
      'no longer takes',
    ],
    [
      'asks for something else',
      { requiresConfirmation: false, externalExecution: true, execute: undefined },
      'the external result of',
    ],
    ['needs an approval', { approval: 'required' }, '(with an approval)'],
  ];
  const changed = (deeds: Deeds, options: (typeof changes)[number][1]) =>
    options === undefined ? send(deeds, {}, 'wipe') : send(deeds, options);

  test.each(changes)(
    'a tool of a source that %s ends the run, and nothing is lost',
    async (_, options, text) => {
      const deeds = new Deeds();
      const before = mailer(server(send(deeds)));
      const run = await waiting(before);
      const { run: ended } = await run.continuedBy(mailer(server(changed(deeds, options))), said);
      expect(ended).toMatchObject({
        status: 'error',
        result: { error: { type: 'definition_changed', message: expect.stringContaining(text) } },
      });
      expect(deeds.list).toEqual([]);
      expect((await run.retriedBy(before)).run.status).toBe('completed');
      expect(deeds.list).toEqual(['send']);
    },
  );

  test.each(changes)('a tool of an agent from a factory that %s ends the run', async (_, options, text) => {
    const deeds = new Deeds();
    const factory = (made: ReturnType<typeof mailer>) =>
      new AgentFactory({ id: 'mailer', build: () => made });
    const taken = (made: ReturnType<typeof mailer>) =>
      factory(made).rebuilt({ sessionId: 's', userId: null, input: { options: {} } } as unknown as Run, {});
    const request = { input: {}, userId: null, claims: null, sessionId: 's', state: {} };
    const run = await waiting(taken(mailer(send(deeds))));
    const { run: ended } = await run.continuedBy(taken(mailer(changed(deeds, options))), said);
    expect(ended.result?.error).toMatchObject({
      type: 'definition_changed',
      message: expect.stringContaining(text),
    });
    const asked = await factory(mailer(send(deeds))).build(request, (_what, work) => work());
    expect((await run.retriedBy(asked)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['send']);
  });

  test('a workflow that is one function and no longer runs what waited ends with an error', async () => {
    const deeds = new Deeds();
    const asked = mailer(send(deeds));
    const other = agent({ id: 'other', model: scriptedModel(['Hi.']) });
    const whole = (work: (context: WorkflowContext) => Promise<string>) =>
      workflow({ id: 'newsletter', steps: work });
    const before = whole(async (context) => String(await context.run(asked, 'x')));
    const run = await waiting(before);
    const { run: ended } = await run.continuedBy(
      whole(async (context) => String(await context.run(other, 'x'))),
    );
    expect(ended.result?.error).toMatchObject({
      type: 'definition_changed',
      message: expect.stringContaining("was agent 'mailer', and the code no longer has it"),
    });
    expect((await run.retriedBy(before)).run.status).toBe('completed');
    expect(deeds.list).toEqual(['send']);
  });
});

describe('a question that is open when changed code ends the run is the same when the earlier code is back', () => {
  const calls = (...toolCalls: { name: string; arguments: object }[]) =>
    scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? 'Done.'
        : { toolCalls: toolCalls.map((one) => ({ ...one, id: one.name })) as never },
    );
  const payer = (deeds: Deeds, name: string) =>
    agent({
      id: 'payer',
      model: calls({ name: 'pay', arguments: {} }, { name: 'send', arguments: {} }),
      tools: [send(deeds, { approval: 'required' }, 'pay'), server(send(deeds, {}, name))],
    });
  const delegation = { name: 'delegate_task_to_member', arguments: { member_id: 'payer', task: 'x' } };

  test.each([
    ['an agent', payer],
    [
      'a member of a team',
      (deeds: Deeds, name: string) =>
        team({ id: 't', model: calls(delegation), members: [payer(deeds, name)] }),
    ],
  ])('%s', async (_, make) => {
    const deeds = new Deeds();
    const run = await waiting(make(deeds, 'send'));
    const open = async () =>
      (await run.look()).steps
        .filter(({ kind, status }) => kind === 'wait' && status === 'running')
        .map(({ key, input }) => ({ key, input }));
    const [pay] = await open();
    const { run: ended } = await run.continuedBy(make(deeds, 'wipe'), said);
    expect(ended.result?.error?.type).toBe('definition_changed');
    expect((await run.retriedBy(make(deeds, 'send'))).run.status).toBe('paused');
    expect(await open()).toEqual([pay]);
    expect(deeds.list).toEqual(['send']);
  });
});
