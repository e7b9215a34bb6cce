import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answerOfApproval, auditRecordOf } from '../../../src/core/agents/requirements/approvals.js';
import { readAnswer } from '../../../src/core/agents/requirements/read-answer.js';
import type { JsonObject } from '../../../src/core/json.js';
import { agent, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { askUser, getUserInput } from '../../../src/tools.js';
import { engineOver } from '../harness.js';
import { call, decided, pausedRun, payTool, started } from '../paused-runs.js';

describe('a call that a person has to confirm', () => {
  test('pauses the run and is executed once when it is confirmed', async () => {
    const { pay, paid } = payTool({ requiresConfirmation: true });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    const before = await run.look();
    expect(before.run).toMatchObject({
      status: 'paused',
      result: { content: "I need your confirmation before I continue with 'pay'." },
    });
    expect(before.tools).toMatchObject([
      { tool_args: { cents: 5 }, requires_confirmation: true, confirmed: null, result: null, metrics: null },
    ]);
    const paused = (await run.events()).slice(-2);
    expect(paused).toMatchObject([
      { event: 'RunContentCompleted' },
      {
        event: 'RunPaused',
        content: "I need your confirmation before I continue with 'pay'.",
        tools: [{ tool_call_id: 'call pay', requires_confirmation: true }],
        requirements: [
          {
            id: before.open[0]!.requirement.id,
            created_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
            tool_execution: { tool_name: 'pay' },
          },
        ],
      },
    ]);
    expect(paid).toEqual([]);
    const after = await run.reply({ 'call pay': { confirmed: true } });
    expect(after.run).toMatchObject({ status: 'completed', result: { content: 'Done.' } });
    expect(after.tools).toMatchObject([{ confirmed: true, result: 'paid 5', tool_call_error: false }]);
    expect(paid).toEqual([{ cents: 5, to: 'me' }]);
    const names = (await run.events()).map(({ event }) => event);
    const continued = names.slice(names.indexOf('RunPaused') + 1);
    expect(continued.slice(0, 3)).toEqual(['RunContinued', 'ToolCallStarted', 'ToolCallCompleted']);
    expect(names.filter((name) => name === 'ToolCallStarted')).toHaveLength(1);
  });

  test('is not executed when it is rejected, and the model reads why', async () => {
    const { pay, paid } = payTool({ requiresConfirmation: true });
    const model = scriptedModel([
      { toolCalls: [call('pay', { cents: 5 }, 'one'), call('pay', { cents: 6 }, 'two')] },
      'All right.',
    ]);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    const { run: ended, tools } = await run.reply({
      one: { confirmed: false, note: 'too dear' },
      two: { confirmed: false },
    });
    expect(ended.status).toBe('completed');
    expect(paid).toEqual([]);
    expect(tools).toMatchObject([
      { confirmed: false, confirmation_note: 'too dear', tool_call_error: true, result: 'too dear' },
      { confirmed: false, confirmation_note: null, result: 'Function call was rejected by the user' },
    ]);
    expect(model.requests[1]!.messages.slice(-2).map(({ content }) => content)).toEqual([
      'too dear',
      'Function call was rejected by the user',
    ]);
    const names = (await run.events()).map(({ event }) => event);
    expect(names.filter((name) => name.startsWith('ToolCall'))).toEqual([]);
  });

  test('is asked for by a function of its arguments, and never when they do not fit', async () => {
    const { pay, paid } = payTool({ requiresConfirmation: ({ cents }) => cents > 100 });
    const model = scriptedModel([
      {
        toolCalls: [
          call('pay', { cents: 500 }, 'dear'),
          call('pay', { cents: 5 }, 'cheap'),
          call('pay', { cents: 'many' }, 'wrong'),
        ],
      },
      'Done.',
    ]);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    const { open, tools } = await run.look();
    expect(open.map(({ requirement }) => requirement.callId)).toEqual(['dear']);
    expect(paid).toEqual([{ cents: 5, to: 'me' }]);
    expect(tools.map(({ tool_call_id, tool_call_error }) => [tool_call_id, tool_call_error])).toEqual([
      ['dear', null],
      ['cheap', false],
      ['wrong', true],
    ]);
    await run.reply({ dear: { confirmed: true } });
    expect(model.requests[1]!.messages.slice(-3).map(({ toolCallId }) => toolCallId)).toEqual([
      'dear',
      'cheap',
      'wrong',
    ]);
  });

  test('is not executed when the journal holds an answer for other arguments', async () => {
    const { pay, paid } = payTool({ requiresConfirmation: true });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    const { steps, run: stored } = await run.look();
    const step = steps.find(({ key }) => key === 'wait:tool:0:0')!;
    const changed = { ...step, input: { ...(step.input as JsonObject), args: { cents: 500 } } };
    await run.store.commit([{ runId: run.runId, attempt: stored.attempt, steps: [changed] }]);
    const { run: ended } = await run.reply({ 'call pay': { confirmed: true } });
    expect(paid).toEqual([]);
    expect(ended.result?.error).toMatchObject({
      type: 'definition_changed',
      message: expect.stringContaining('with other arguments'),
    });
  });
});

test('several calls of one turn pause together, are answered one by one, and may be followed by more', async () => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const outside = tool({ name: 'outside', description: 'x', externalExecution: true });
  const look = tool({ name: 'look', description: 'x', readOnly: true, execute: () => 'seen' });
  const model = scriptedModel([
    { toolCalls: [call('pay', { cents: 1 }), call('outside', {}), call('look', {})] },
    { toolCalls: [call('pay', { cents: 2 }, 'again')] },
    'Done.',
  ]);
  const run = await started(agent({ id: 'a', model, tools: [pay, outside, look] }));
  expect((await run.look()).open).toHaveLength(2);
  expect((await run.look()).tools).toMatchObject([{ result: null }, { result: null }, { result: 'seen' }]);

  const partly = await run.reply({ 'call pay': { confirmed: true } });
  expect(partly.run.status).toBe('paused');
  expect(partly.open.map(({ requirement }) => requirement.toolName)).toEqual(['outside']);
  expect(paid).toHaveLength(1);
  expect(model.requests).toHaveLength(1);

  const second = await run.reply({ 'call outside': { result: 'from outside' } });
  expect(second.run.status).toBe('paused');
  expect(second.open.map(({ requirement }) => requirement.callId)).toEqual(['again']);
  expect(model.requests[1]!.messages.slice(-3).map(({ content }) => content)).toEqual([
    'paid 1',
    'from outside',
    'seen',
  ]);

  const last = await run.reply({ again: { confirmed: true } });
  expect(last.run).toMatchObject({ status: 'completed', attempt: 4 });
  expect(paid.map(({ cents }) => cents)).toEqual([1, 2]);
  const names = (await run.events()).map(({ event }) => event);
  expect(names.filter((name) => name === 'ToolCallCompleted')).toHaveLength(3);
  expect(names.filter((name) => name === 'RunPaused')).toHaveLength(3);
});

describe('what a person fills in', () => {
  test('completes the arguments of the tool', async () => {
    const { pay, paid } = payTool({ requiresUserInput: true, userInputFields: ['to'] });
    const model = scriptedModel([
      { toolCalls: [call('pay', { cents: 'x' }, 'wrong')] },
      { toolCalls: [call('pay', { cents: 7, to: 'the model' })] },
      'Done.',
    ]);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    expect((await run.look()).tools[1]).toMatchObject({
      requires_user_input: true,
      answered: null,
      user_input_schema: [{ name: 'to', field_type: 'str', description: null, value: null }],
    });
    const { tools } = await run.reply({ 'call pay': { values: { to: 'ada', cents: 999 } } });
    expect(paid).toEqual([{ cents: 7, to: 'ada' }]);
    expect(tools[1]).toMatchObject({
      answered: true,
      user_input_schema: [{ value: 'ada' }],
      result: 'paid 7',
    });
  });

  test('is the result of get_user_input', async () => {
    const fields: JsonObject[] = [
      { field_name: 'seats', field_type: 'int', field_description: 'How many' },
      { field_name: 'window', field_type: 'bool' },
    ];
    const model = scriptedModel([
      { toolCalls: [call('get_user_input', { user_input_fields: fields })] },
      'Booked.',
    ]);
    const run = await started(agent({ id: 'a', model, tools: [getUserInput()] }));
    expect((await run.look()).tools[0]).toMatchObject({
      requires_user_input: true,
      user_input_schema: [
        { name: 'seats', field_type: 'int', description: 'How many', value: null },
        { name: 'window', field_type: 'bool', description: null, value: null },
      ],
    });
    await run.reply({ 'call get_user_input': { values: { seats: '2', window: true } } });
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ content: '{"seats":2,"window":true}' });
  });

  test('is the result of ask_user', async () => {
    const options: JsonObject[] = [{ label: 'Red' }, { label: 'Blue', description: 'like the sea' }];
    const model = scriptedModel([
      { toolCalls: [call('ask_user', { questions: [{ question: 'Which?', header: 'Colour', options }] })] },
      'Blue it is.',
    ]);
    const run = await started(agent({ id: 'a', model, tools: [askUser()] }));
    expect((await run.look()).tools[0]).toMatchObject({
      user_input_schema: null,
      user_feedback_schema: [
        {
          question: 'Which?',
          header: 'Colour',
          multi_select: false,
          selected_options: null,
          options: [
            { label: 'Red', description: null, selected: false },
            { label: 'Blue', description: 'like the sea', selected: false },
          ],
        },
      ],
    });
    const { tools } = await run.reply({ 'call ask_user': { selected: [['Blue']] } });
    expect(model.requests[1]!.messages.at(-1)!.content).toBe(
      '[{"question":"Which?","selected_options":["Blue"]}]',
    );
    expect(tools[0]).toMatchObject({
      answered: true,
      user_feedback_schema: [
        { selected_options: ['Blue'], options: [{ selected: false }, { selected: true }] },
      ],
    });
  });
});

test('a call that is executed outside shows nothing when it is silent, and its result goes to the model', async () => {
  const outside = tool({
    name: 'outside',
    description: 'x',
    inputSchema: z.object({ path: z.string() }),
    externalExecution: true,
    externalExecutionSilent: true,
  });
  const model = scriptedModel([
    { toolCalls: [call('outside', {}, 'wrong')] },
    { toolCalls: [call('outside', { path: '/x' })] },
    'Done.',
  ]);
  const run = await started(agent({ id: 'a', model, tools: [outside] }));
  const { tools, run: paused } = await run.look();
  expect(paused.result?.content).toBe('');
  expect(tools).toMatchObject([
    { tool_call_id: 'wrong', tool_call_error: true },
    { external_execution_required: true, external_execution_silent: true, result: null },
  ]);
  const { tools: after } = await run.reply({ 'call outside': { result: { files: 3 } } });
  expect(after[1]).toMatchObject({ result: '{"files":3}', tool_call_error: false });
});

describe('a call that has to be approved', () => {
  test('waits with a pending approval that names it, and no caller can confirm it', async () => {
    const { pay, paid } = payTool({ approval: 'required', approvalTimeoutMs: 60_000 });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const run = await started(agent({ id: 'a', name: 'Cashier', model, tools: [pay] }));
    const { open, tools } = await run.look();
    const { approval, createdAt } = open[0]!.requirement;
    expect(tools).toMatchObject([{ approval_type: 'required', approval_id: approval!.id }]);
    expect(approval!.expiresAt).toBe(createdAt + 60_000);
    expect(readAnswer(open[0]!, { confirmed: true })).toBeUndefined();
    const { run: ended, tools: after } = await run.answerAll((state) =>
      answerOfApproval(state, decided('approved')),
    );
    expect(ended).toMatchObject({
      status: 'completed',
      result: { metadata: { approval: { status: 'approved' } } },
    });
    expect(after).toMatchObject([{ confirmed: true, result: 'paid 5' }]);
    expect(paid).toHaveLength(1);
  });

  test.each([
    ['rejected', {}, 'Function call was rejected by the user', 'Tool call was rejected'],
    ['rejected', { note: 'not today' }, 'not today', 'not today'],
    ['expired', {}, 'The approval of this call expired', 'The approval of this call expired'],
  ] as const)('is not executed when it was %s %j', async (status, data, expected, noted) => {
    const { pay, paid } = payTool({ approval: 'required' });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    const { tools } = await run.answerAll((state) => answerOfApproval(state, decided(status, data)));
    expect(paid).toEqual([]);
    expect(tools).toMatchObject([
      {
        confirmed: false,
        confirmation_note: expect.stringContaining(noted),
        result: expect.stringContaining(expected),
      },
    ]);
  });

  test('is written down after the answer when it is only to be audited', async () => {
    const { pay } = payTool({ requiresConfirmation: true, approval: 'audit' });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const run = await started(agent({ id: 'a', model, tools: [pay] }));
    const { open, run: paused, tools } = await run.look();
    expect(tools).toMatchObject([{ approval_type: 'audit', approval_id: null }]);
    const answer = readAnswer(open[0]!, { confirmed: false, note: 'no' })!;
    expect(auditRecordOf(paused, open[0]!, answer, 77)).toMatchObject({
      approvalType: 'audit',
      status: 'rejected',
      resolvedAt: 77,
      toolArgs: { cents: 5 },
      requirement: { confirmation: false, confirmation_note: 'no' },
    });
  });
});

test('a call that the model names like an earlier one is another call', async () => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const model = scriptedModel([
    { toolCalls: [call('pay', { cents: 1 }, 'call_0')] },
    { toolCalls: [call('pay', { cents: 1000 }, 'call_0'), call('pay', { cents: 2000 }, 'call_0')] },
    'Done.',
  ]);
  const run = await started(agent({ id: 'a', model, tools: [pay] }));
  const { open } = await run.reply({ call_0: { confirmed: true } });
  const callIds = open.map(({ requirement }) => requirement.callId);
  expect(new Set(['call_0', ...callIds]).size).toBe(3);
  await run.reply({ [callIds[1]!]: { confirmed: true } });
  expect(paid).toMatchObject([{ cents: 1 }, { cents: 2000 }]);
});

test.each([
  {
    before: { requiresUserInput: true, userInputFields: ['to'] },
    after: {},
    answer: { values: { to: 'Ann' } },
  },
  {
    before: { requiresConfirmation: true },
    after: { requiresUserInput: true, userInputFields: ['to'] },
    answer: { confirmed: true },
  },
] as const)('an answer does not fit a tool that asks for something else by now: %j', async (change) => {
  const model = scriptedModel([{ toolCalls: [call('pay', { cents: 1 })] }, 'Done.']);
  const { store, runId } = await started(agent({ id: 'a', model, tools: [payTool(change.before).pay] }));
  const { pay, paid } = payTool(change.after);
  const engine = engineOver(store, [agent({ id: 'a', model, tools: [pay] })]);
  const paused = pausedRun(store, engine, runId);
  await expect(paused.reply({ 'call pay': change.answer })).rejects.toMatchObject({
    code: 'definition_changed',
  });
  expect((await paused.look()).run.status).toBe('paused');
  expect(paid).toEqual([]);
});
