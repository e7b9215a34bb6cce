import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { openAIResponses } from '../../../src/core/models/openai-responses/openai-responses.js';
import { agent, type ToolEntry, team } from '../../../src/index.js';
import { type ScriptedToolCall, scriptedModel } from '../../../src/testing.js';
import { adapterFor } from '../../support/providers/model-calls.js';
import { Deeds, waiting } from '../changed-code/changed-code.js';
import { payTool } from '../paused-runs.js';

const pay: ScriptedToolCall = { id: 'call', name: 'pay', arguments: { cents: 5 }, client: 'execution' };
const close: ScriptedToolCall = {
  id: 'mcpr',
  name: 'github_close',
  arguments: { issue: 1 },
  client: 'confirmation',
};

const callsOnce = (...toolCalls: ScriptedToolCall[]) =>
  scriptedModel(({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls }));

describe('a call that the client answers', () => {
  test('is executed by the tool of that name', async () => {
    const { pay: tool, paid } = payTool({});
    const output = await agent({ id: 'a', model: callsOnce(pay), tools: [tool] }).run('Pay');
    expect(output).toMatchObject({ status: 'completed', content: 'Done.', tools: [{ result: 'paid 5' }] });
    expect(paid).toEqual([{ cents: 5, to: 'me' }]);
  });

  test('does not pass the gate of the tool of that name', async () => {
    const { pay: tool, paid } = payTool({ requiresConfirmation: true });
    const clerk = agent({ id: 'a', model: callsOnce(pay), tools: [tool] });
    const paused = await clerk.run('Pay');
    expect(paused).toMatchObject({
      status: 'paused',
      requirements: [{ callId: 'call', kind: 'confirmation' }],
    });
    const still = await clerk
      .continue(paused.runId, { answers: { call: { result: 'paid already' } } })
      .catch((error) => error);
    expect(still).not.toMatchObject({ status: 'completed' });
    expect(paid).toEqual([]);
    expect(await clerk.continue(paused.runId, { answers: { call: { confirmed: true } } })).toMatchObject({
      status: 'completed',
      tools: [{ result: 'paid 5' }],
    });
    expect(paid).toHaveLength(1);
  });

  test('pauses the run for its result where there is no such tool', async () => {
    const model = callsOnce(pay);
    const clerk = agent({ id: 'a', model });
    const paused = await clerk.run('Pay');
    expect(paused).toMatchObject({
      status: 'paused',
      content: "I need the result of 'pay', which is executed outside.",
      requirements: [{ callId: 'call', kind: 'external_execution', toolName: 'pay', args: { cents: 5 } }],
    });
    const output = await clerk.continue(paused.runId, { answers: { call: { result: { paid: true } } } });
    expect(output).toMatchObject({
      status: 'completed',
      content: 'Done.',
      tools: [{ result: '{"paid":true}' }],
    });
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: '{"paid":true}',
      toolCallId: 'call',
    });
    expect(model.requests[1]!.messages.at(-2)).toMatchObject({ toolCalls: [{ client: 'execution' }] });
  });

  test.each([
    [{ confirmed: true }, { content: 'The call was confirmed.' }],
    [
      { confirmed: false, note: 'Not now' },
      { content: 'Not now', toolCallError: true },
    ],
  ])('is confirmed or rejected by a person, whatever tools there are: %j', async (answer, expected) => {
    const { pay: tool, paid } = payTool({ name: close.name! });
    const model = callsOnce(close);
    const clerk = agent({ id: 'a', model, tools: [tool] });
    const paused = await clerk.run('Close it');
    expect(paused).toMatchObject({
      status: 'paused',
      requirements: [{ callId: 'mcpr', kind: 'confirmation', args: { issue: 1 } }],
    });
    const output = await clerk.continue(paused.runId, { answers: { mcpr: answer } });
    expect(output.status).toBe('completed');
    expect(model.requests[1]!.messages.at(-1)).toMatchObject(expected);
    expect(paid).toEqual([]);
  });

  test('pauses a team for the call of a member', async () => {
    const member = agent({ id: 'member', model: callsOnce(pay) });
    const delegate = { name: 'delegate_task_to_member', arguments: { member_id: 'member', task: 'Pay' } };
    const leader = team({ id: 't', model: callsOnce(delegate), members: [member] });
    const paused = await leader.run('Pay');
    expect(paused).toMatchObject({
      status: 'paused',
      requirements: [{ callId: 'call', kind: 'external_execution' }],
    });
    const output = await leader.continue(paused.runId, { answers: { call: { result: 'paid' } } });
    expect(output).toMatchObject({ status: 'completed', content: 'Done.' });
  });

  test.each([['{"issue":'], ['[1]']])(
    'fails the run with its name when its arguments cannot be shown: %s',
    async (text) => {
      const clerk = agent({ id: 'a', model: callsOnce({ ...close, arguments: text }) });
      expect(await clerk.run('Close it')).toMatchObject({
        status: 'error',
        error: { code: 'model_provider_error', message: expect.stringContaining("'github_close'") },
      });
    },
  );
});

describe('code that changed while a call of the client waits', () => {
  const clerk = (...tools: readonly ToolEntry[]) =>
    agent({ id: 'clerk', model: callsOnce({ ...pay, arguments: {} }), tools });
  const answers = { pay: { result: 'paid' } };

  test('a missing tool is no difference for a call that never had one', async () => {
    const run = await waiting(clerk());
    const { run: ended } = await run.continuedBy(clerk(), answers);
    expect(ended.status).toBe('completed');
    const other = await waiting(clerk());
    // another fingerprint: the run is replayed first
    const { run: replayed } = await other.continuedBy(clerk(new Deeds().confirmedTool('other')), answers);
    expect(replayed.status).toBe('completed');
  });

  test('a tool that asked and is gone is one', async () => {
    const deeds = new Deeds();
    const run = await waiting(clerk(deeds.confirmedTool('pay')));
    await run.refusedBy(clerk(), "without the tool 'pay'");
    expect(deeds.list).toEqual([]);
  });

  test('a tool that requires something else accepts no result as its approval', async () => {
    const deeds = new Deeds();
    const run = await waiting(clerk());
    await run.refusedBy(clerk(deeds.confirmedTool('pay')), "the confirmation of 'pay'", answers);
    expect(deeds.list).toEqual([]);
  });
});

test('calls of OpenAI get their answers as its API wants them', async () => {
  const response = (output: JsonObject[]) => ({
    body: { id: 'r', object: 'response', status: 'completed', output },
  });
  const { model, server } = await adapterFor(
    [
      response([
        {
          type: 'shell_call',
          id: 'sh',
          call_id: 'call_1',
          status: 'completed',
          action: { commands: ['ls'] },
        },
        {
          type: 'mcp_approval_request',
          id: 'mcpr_1',
          server_label: 'github',
          name: 'close',
          arguments: '{"issue":1}',
        },
      ]),
      response([
        { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      ]),
    ],
    (connection) => openAIResponses({ id: 'gpt-5.1', ...connection }),
  );
  const operator = agent({ id: 'a', model });
  const paused = await operator.run('List and close');
  const half = await operator.continue(paused.runId, { answers: { call_1: { result: 'a.txt' } } });
  expect(half).toMatchObject({ status: 'paused', requirements: [{ toolName: 'github_close' }] });
  const output = await operator.continue(paused.runId, {
    answers: { mcpr_1: { confirmed: false, note: 'Keep it' } },
  });
  expect(output).toMatchObject({ status: 'completed', content: 'Done.' });
  expect(server.requests[1]?.body.input.slice(1)).toEqual([
    { type: 'shell_call', id: 'sh', call_id: 'call_1', status: 'completed', action: { commands: ['ls'] } },
    {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      server_label: 'github',
      name: 'close',
      arguments: '{"issue":1}',
    },
    {
      type: 'shell_call_output',
      call_id: 'call_1',
      output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
    { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: false, reason: 'Keep it' },
  ]);
});
