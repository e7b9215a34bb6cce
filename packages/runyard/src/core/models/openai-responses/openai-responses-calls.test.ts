import { describe, expect, it } from 'vitest';
import {
  adapterFor,
  ask,
  failure,
  mediaOf,
  message,
  open,
} from '../../../../test/support/providers/model-calls.js';
import {
  answerOf,
  completed,
  done,
  type Item,
  inputAfter,
  modelFor,
  modelId,
  read,
  response,
} from '../../../../test/support/providers/responses-answers.js';
import type { JsonObject } from '../../json.js';
import type { Message } from '../message.js';
import { openAIResponses } from './openai-responses.js';

const calls: [string, Item, object, Partial<Message>, object][] = [
  [
    'a custom tool',
    {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'call_1',
      name: 'sql',
      input: 'SELECT 1',
      status: 'completed',
    },
    { name: 'sql', arguments: '{"input":"SELECT 1"}' },
    { content: '1' },
    { type: 'custom_tool_call_output', call_id: 'call_1', output: '1' },
  ],
  [
    'the local shell',
    {
      type: 'local_shell_call',
      id: 'lsh_1',
      call_id: 'call_1',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {} },
    },
    { name: 'local_shell', arguments: '{"type":"exec","command":["ls"],"env":{}}' },
    { content: 'a.txt' },
    { type: 'local_shell_call_output', id: 'call_1', call_id: 'call_1', output: 'a.txt' },
  ],
  [
    'the shell',
    {
      type: 'shell_call',
      id: 'sh_1',
      call_id: 'call_1',
      status: 'completed',
      environment: { type: 'local' },
      action: { commands: ['ls'], max_output_length: 9 },
    },
    { name: 'shell', arguments: '{"commands":["ls"],"max_output_length":9}' },
    { content: '{"stdout":"a.txt","exit_code":2}' },
    {
      type: 'shell_call_output',
      call_id: 'call_1',
      output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 2 } }],
      max_output_length: 9,
    },
  ],
  [
    'the shell, with a text as its result',
    {
      type: 'shell_call',
      id: 'sh_1',
      call_id: 'call_1',
      status: 'completed',
      environment: null,
      action: { commands: ['ls'] },
    },
    { name: 'shell', arguments: '{"commands":["ls"]}' },
    { content: 'No.', toolCallError: true },
    {
      type: 'shell_call_output',
      call_id: 'call_1',
      output: [{ stdout: '', stderr: 'No.', outcome: { type: 'exit', exit_code: 1 } }],
    },
  ],
  [
    'patches',
    {
      type: 'apply_patch_call',
      id: 'apc_1',
      call_id: 'call_1',
      status: 'completed',
      operation: { type: 'delete_file', path: 'a' },
    },
    { name: 'apply_patch', arguments: '{"type":"delete_file","path":"a"}' },
    { content: 'gone', toolCallError: true },
    { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'gone' },
  ],
  [
    'patches, whose results say how they ended',
    {
      type: 'apply_patch_call',
      id: 'apc_1',
      call_id: 'call_1',
      status: 'completed',
      operation: { type: 'delete_file', path: 'a' },
    },
    { name: 'apply_patch', arguments: '{"type":"delete_file","path":"a"}' },
    { content: '{"status":"failed","output":"gone"}' },
    { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'gone' },
  ],
  [
    'the computer',
    {
      type: 'computer_call',
      id: 'cu_1',
      call_id: 'call_1',
      status: 'completed',
      action: { type: 'screenshot' },
      pending_safety_checks: [{ id: 'sc' }],
    },
    { name: 'computer', arguments: '{"action":{"type":"screenshot"},"pending_safety_checks":[{"id":"sc"}]}' },
    {
      content: '{"acknowledged_safety_checks":[{"id":"sc"}]}',
      media: [{ kind: 'image', id: '1', hash: 'png' }],
    },
    {
      type: 'computer_call_output',
      call_id: 'call_1',
      output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw==' },
      acknowledged_safety_checks: [{ id: 'sc' }],
    },
  ],
  [
    'the search for tools',
    {
      type: 'tool_search_call',
      id: 'ts_1',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      arguments: { goal: 'pay' },
    },
    { name: 'tool_search', arguments: '{"goal":"pay"}' },
    { content: '[{"type":"function","name":"pay"}]' },
    {
      type: 'tool_search_output',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      tools: [{ type: 'function', name: 'pay' }],
    },
  ],
  [
    'a search for tools that failed',
    {
      type: 'tool_search_call',
      id: 'ts_1',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      arguments: { goal: 'pay' },
    },
    { name: 'tool_search', arguments: '{"goal":"pay"}' },
    { content: 'The index is gone', toolCallError: true },
    { type: 'tool_search_output', call_id: 'call_1', execution: 'client', status: 'completed', tools: [] },
  ],
  [
    'the approval of an MCP call',
    {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      server_label: 'git hub',
      name: 'close',
      arguments: '{"issue":1}',
    },
    { id: 'mcpr_1', name: 'git_hub_close', arguments: '{"issue":1}', client: 'confirmation' },
    { content: 'The call was confirmed.' },
    { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
  ],
  [
    'the approval of an MCP call that a person rejects',
    {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      server_label: 'github',
      name: 'close',
      arguments: '{"issue":1}',
    },
    { id: 'mcpr_1', name: 'github_close', arguments: '{"issue":1}', client: 'confirmation' },
    { content: 'Not that one', toolCallError: true },
    { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: false, reason: 'Not that one' },
  ],
];

describe('calls that the client answers', () => {
  it.each(calls)(
    'reach the tool of that name and go back as they came: %s',
    async (_, item, call, result, output) => {
      const answer = await answerOf([item]);
      const expected = { id: 'call_1', client: 'execution', ...call };
      expect(answer).toMatchObject({ content: '', toolCalls: [expected], finishReason: 'tool_calls' });
      const answered = message('tool', '', { toolCallId: expected.id, ...result });
      const { status: _status, ...sent } = item;
      const [back, ...rest] = await inputAfter(answer, [answered], mediaOf({ png: '\x89PNG' }));
      expect(back).toMatchObject(sent);
      expect(rest).toEqual([output]);
    },
  );

  it('go back as function calls where the result has no other form, or another model made them', async () => {
    const item = calls.find(([name]) => name === 'the computer')![1];
    const answer = await answerOf([item]);
    const failed = message('tool', 'Rejected', { toolCallId: 'call_1', toolCallError: true });
    const asFunction = [
      { type: 'function_call', call_id: 'call_1', name: 'computer', arguments: expect.any(String) },
      { type: 'function_call_output', call_id: 'call_1', output: 'Rejected' },
    ];
    expect(await inputAfter(answer, [failed])).toEqual(asFunction);
    const providerData = {
      ...answer.providerData,
      layout: { protocol: 'openai-responses', model: 'another', pieces: [] },
    };
    expect(await inputAfter({ ...answer, providerData }, [failed])).toEqual(asFunction);
  });

  it('fail by the name of the tool when the result lacks what the API needs', async () => {
    const item = calls.find(([name]) => name === 'the computer')![1];
    const answer = await answerOf([item]);
    const useless = message('tool', 'done', { toolCallId: 'call_1' });
    expect(await failure(inputAfter(answer, [useless]))).toMatchObject({
      message: expect.stringContaining(
        "The result of 'computer' cannot be sent to OpenAI: it must be a screenshot",
      ),
    });
  });

  it('fail by the name of the tool when they lack their arguments', async () => {
    const item = { type: 'shell_call', id: 'sh_1', call_id: 'call_1', status: 'completed' };
    const { model } = await modelFor([{ body: response({ output: [item] }) }]);
    expect((await failure(model.generate(ask(), open()))).message).toBe(
      "OpenAI sent a call of 'shell' without its arguments",
    );
    expect((await failure(read([done(0, item), completed]))).message).toContain("'shell'");
  });

  it('are not made where OpenAI has executed them', async () => {
    const shell = { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] } };
    const output: Item[] = [
      { ...shell, id: 'sh_1', environment: { type: 'container_reference', container_id: 'c' } },
      { ...shell, id: 'sh_2', call_id: 'call_2' },
      { type: 'shell_call_output', id: 'so_2', call_id: 'call_2', output: [] },
      { type: 'tool_search_call', id: 'ts_1', call_id: null, execution: 'server', arguments: {} },
    ];
    const answer = await answerOf(output);
    expect(answer.toolCalls).toEqual([]);
    expect(await inputAfter(answer)).toEqual(output);
  });

  it('are offered as the tool of OpenAI alone', async () => {
    const tools: JsonObject[] = [
      { type: 'shell' },
      { type: 'custom', name: 'sql' },
      { type: 'computer_use_preview' },
    ];
    const { model, server } = await adapterFor([{ body: response() }, { body: response() }], (connection) =>
      openAIResponses({ id: modelId, ...connection, parameters: { tools } }),
    );
    const offered = ['shell', 'sql', 'computer', 'add'].map((name) => ({
      name,
      description: '',
      inputSchema: {},
    }));
    await model.generate(ask({ tools: offered, toolChoice: { name: 'shell' } }), open());
    await model.generate(ask({ tools: offered, toolChoice: { name: 'sql' } }), open());
    expect(server.requests[0]?.body.tools).toEqual([
      ...tools,
      expect.objectContaining({ type: 'function', name: 'add' }),
    ]);
    expect(server.requests.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'shell' },
      { type: 'custom', name: 'sql' },
    ]);
  });
});
