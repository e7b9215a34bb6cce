import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;
let slowMayEnd = gate();
let fastHasEnded = gate();

const tools = [
  tool({
    name: 'add',
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  }),
  tool({
    name: 'slow',
    description: 'Ends when the test lets it',
    execute: async () => {
      await slowMayEnd.opened;
      return 'slow result';
    },
  }),
  tool({
    name: 'fast',
    description: 'Ends at once',
    execute: () => {
      fastHasEnded.open();
      return 'fast result';
    },
  }),
  tool({
    name: 'broken',
    description: 'Throws',
    execute: () => {
      throw new Error('the pump is dry');
    },
  }),
  tool({
    name: 'report',
    description: 'Reports how far it is',
    execute: (_args, { emit }) => {
      emit({ progress: 50, note: 'half\u2028way' });
      emit({ progress: 100 });
      return 'reported';
    },
  }),
  tool({
    name: 'liar',
    description: 'Claims to be something else',
    execute: (_args, { emit }) => {
      emit({ event: 'RunCompleted', run_id: 'other', agent_id: 'other', event_index: -1 });
      return 'lied';
    },
  }),
  tool({
    name: 'last',
    description: 'Ends the run',
    stopAfterCall: true,
    showResult: true,
    execute: () => 'final word',
  }),
];

beforeAll(async () => {
  service = await TestService.start({
    agents: [
      agent({ id: 'a', name: 'Clerk', model: book.model, tools }),
      agent({ id: 'limited', model: book.model, tools, toolCallLimit: 1 }),
    ],
  });
});
afterAll(() => service.stop());

const call = (name: string, args: object | string = {}, id = `call-${name}`) => ({
  name,
  id,
  arguments: args as Body,
});

async function follow(message: string, form: Record<string, string | boolean> = {}, agentId = 'a') {
  return (await service.stream(agentId, { message, ...form })).end();
}

/** The names without repetitions of the deltas. */
function outline(names: string[]): string[] {
  return names.filter((name, at) => name !== 'RunContent' || names[at - 1] !== 'RunContent');
}

describe('a plain run', () => {
  test('emits its events in the order of the contract', async () => {
    const stream = await follow(book.write('plain', 'one two three'));
    expect(outline(stream.names)).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    expect(stream.all('RunContent').map(({ content }) => content)).toEqual(['', 'one ', 'two ', 'three']);
    expect(stream.first('RunContent')).toMatchObject({
      content_type: 'str',
      reasoning_content: '',
      workflow_agent: false,
    });
  });

  test('names its run in every event, with times in seconds', async () => {
    const stream = await follow('named');
    const { run_id, session_id } = stream.first('RunStarted');
    for (const event of stream.events) {
      expect(event).toMatchObject({
        run_id,
        session_id,
        agent_id: 'a',
        agent_name: 'Clerk',
        nested_depth: 0,
      });
      expect(Number.isInteger(event.created_at)).toBe(true);
      expect(Math.abs(event.created_at - Date.now() / 1000)).toBeLessThan(120);
    }
  });

  test('carries what the contract lists', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, reasoningTokens: 1, cacheReadTokens: 2 };
    const message = book.write('counted', { text: 'answer', usage, providerData: { id: 'p-1' } });
    const stream = await follow(message, { metadata: '{"m":1}', session_state: '{"s":1}' });
    expect(stream.first('RunStarted')).toMatchObject({ model: 'scripted', model_provider: 'Runyard' });
    expect(stream.first('ModelRequestStarted')).toMatchObject({
      model: 'scripted',
      model_provider: 'Runyard',
    });
    expect(stream.first('ModelRequestCompleted')).toMatchObject({
      model: 'scripted',
      model_provider: 'Runyard',
      input_tokens: 7,
      output_tokens: 3,
      total_tokens: 10,
      reasoning_tokens: 1,
      cache_read_tokens: 2,
      cache_write_tokens: 0,
      time_to_first_token: expect.any(Number),
    });
    expect(stream.first('RunCompleted')).toMatchObject({
      content: 'answer',
      content_type: 'str',
      model_provider_data: { id: 'p-1' },
      metadata: { m: 1 },
      session_state: { s: 1 },
      metrics: { input_tokens: 7, output_tokens: 3, total_tokens: 10, duration: expect.any(Number) },
    });
  });

  test('is stored with its events, the deltas left out', async () => {
    const stream = await follow(book.write('kept', 'some words'));
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.events).toEqual(stream.events.filter(({ event }) => event !== 'RunContent'));
  });

  test('shows thinking apart from the content', async () => {
    const stream = await follow(book.write('thinking', { reasoning: 'let me see', text: 'yes' }));
    expect(stream.first('ReasoningContentDelta').reasoning_content).toBe('let me see');
    expect(stream.all('RunContent').map(({ reasoning_content }) => reasoning_content)).toEqual(['', '']);
    expect(stream.content).toBe('yes');
    expect(stream.first('RunCompleted')).toMatchObject({ content: 'yes', reasoning_content: 'let me see' });
  });

  test('says nothing between deltas that needs escaping on one line', async () => {
    const text = 'line\nend\r\nof\u2028separators\u2029and "quotes" \\ \u0000 \ud83c\udf89';
    const stream = await follow(book.write('odd text', { chunks: [text] }));
    expect(stream.content).toBe(text);
    expect(stream.first('RunCompleted').content).toBe(text);
    for (const { data } of stream.frames) {
      expect(data).not.toMatch(/[\u2028\u2029\n\r]/);
      expect(data).toBe(
        JSON.stringify(JSON.parse(data))
          .replace(/\u2028/g, '\\u2028')
          .replace(/\u2029/g, '\\u2029'),
      );
    }
  });
});

describe('a run with tools', () => {
  test('reports calls of one turn together and in their order, whichever ends first', async () => {
    slowMayEnd = gate();
    fastHasEnded = gate();
    const message = book.write(
      'parallel',
      { text: 'working', toolCalls: [call('slow'), call('fast')] },
      'done',
    );
    const stream = await service.stream('a', { message });
    await fastHasEnded.opened;
    await stream.until(() => stream.all('ToolCallStarted').length === 2);
    expect(stream.names).not.toContain('ToolCallCompleted');
    slowMayEnd.open();
    await stream.end();
    expect(outline(stream.names)).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'ToolCallStarted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ToolCallCompleted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    for (const name of ['ToolCallStarted', 'ToolCallCompleted']) {
      expect(stream.all(name).map(({ tool: { tool_name } }) => tool_name)).toEqual(['slow', 'fast']);
    }
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.tools.map(({ tool_name, result }: Body) => [tool_name, result])).toEqual([
      ['slow', 'slow result'],
      ['fast', 'fast result'],
    ]);
    expect(body.messages.map(({ role }: Body) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
  });

  test('shows a call with all its keys', async () => {
    const message = book.write('sum', { toolCalls: [call('add', { a: 2, b: 3 }, 'c1')] }, 'five');
    const stream = await follow(message);
    const keys = [
      ...['tool_call_id', 'tool_name', 'tool_args', 'tool_call_error', 'result', 'metrics', 'child_run_id'],
      ...['stop_after_tool_call', 'created_at', 'requires_confirmation', 'confirmed', 'confirmation_note'],
      ...['requires_user_input', 'user_input_schema', 'user_feedback_schema', 'answered', 'approval_type'],
      ...['external_execution_required', 'external_execution_silent', 'approval_id'],
    ];
    const started = stream.first('ToolCallStarted').tool;
    expect(Object.keys(started).sort()).toEqual([...keys].sort());
    expect(started).toMatchObject({
      tool_call_id: 'c1',
      tool_name: 'add',
      tool_args: { a: 2, b: 3 },
      result: null,
    });
    const completed = stream.first('ToolCallCompleted');
    expect(Object.keys(completed.tool).sort()).toEqual([...keys].sort());
    expect(completed.tool).toMatchObject({ tool_call_error: false, result: '5' });
    expect(completed.tool.metrics).toEqual({
      start_time: expect.any(Number),
      end_time: expect.any(Number),
      duration: expect.any(Number),
    });
    expect(completed.content).toMatch(/^add\(a=2, b=3\) completed in \d+\.\d{4}s\. $/);
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.tools).toEqual([completed.tool]);
    const answer = body.messages.find(({ role }: Body) => role === 'tool');
    expect(answer).toMatchObject({
      tool_call_id: 'c1',
      tool_name: 'add',
      tool_args: { a: 2, b: 3 },
      content: '5',
    });
    const asked = body.messages.find(({ tool_calls }: Body) => tool_calls);
    expect(asked.tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } },
    ]);
  });

  test('continues after a tool that failed', async () => {
    const message = book.write('repair', { toolCalls: [call('broken')] }, 'I could not');
    const stream = await follow(message);
    const names = stream.names.filter((name) => name.startsWith('ToolCall'));
    expect(names).toEqual(['ToolCallStarted', 'ToolCallCompleted', 'ToolCallError']);
    expect(stream.first('ToolCallError')).toMatchObject({
      error: expect.stringContaining('the pump is dry'),
      tool: { tool_name: 'broken', tool_call_error: true },
    });
    expect(book.requests(message)[1]?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallError: true });
    expect(stream.first('RunCompleted').content).toBe('I could not');
  });

  test('lets the model correct bad arguments', async () => {
    const message = book.write(
      'mend',
      { toolCalls: [call('add', { a: 'two' }, 'c1')] },
      { toolCalls: [call('add', '{not json', 'c2')] },
      { toolCalls: [call('add', { a: 2, b: 2 }, 'c3')] },
      'four',
    );
    const stream = await follow(message);
    expect(stream.all('ToolCallError').map(({ tool: { tool_call_id } }) => tool_call_id)).toEqual([
      'c1',
      'c2',
    ]);
    const [, second, third] = book.requests(message);
    expect(second?.messages.at(-1)?.content).toMatch(/a.*\n.*b/s);
    expect(third?.messages.at(-1)?.content).toMatch(/JSON/);
    expect(stream.first('RunCompleted').content).toBe('four');
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.tools.map(({ tool_call_error }: Body) => tool_call_error)).toEqual([true, true, false]);
  });

  test('reports to the model that a tool does not exist, without an event', async () => {
    const message = book.write('unknown tool', { toolCalls: [call('levitate')] }, 'sorry');
    const stream = await follow(message);
    expect(stream.names.filter((name) => name.startsWith('ToolCall'))).toEqual([]);
    expect(book.requests(message)[1]?.messages.at(-1)?.content).toMatch(/levitate.*add/s);
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body).toMatchObject({ status: 'completed', content: 'sorry' });
    expect(body).not.toHaveProperty('tools');
  });

  test('refuses calls beyond the limit with a word to the model', async () => {
    const message = book.write(
      'greedy',
      { toolCalls: [call('fast', {}, 'c1'), call('fast', {}, 'c2')] },
      'enough',
    );
    const stream = await follow(message, {}, 'limited');
    expect(stream.all('ToolCallStarted').map(({ tool: { tool_call_id } }) => tool_call_id)).toEqual(['c1']);
    expect(stream.all('ToolCallCompleted')).toHaveLength(1);
    expect(book.requests(message)[1]?.messages.at(-1)?.content).toMatch(/limit/);
    expect(stream.first('RunCompleted').content).toBe('enough');
  });

  test('sends the events of its tools between start and completion', async () => {
    const message = book.write('progress', { toolCalls: [call('report', {}, 'c9')] }, 'ok');
    const stream = await follow(message);
    const names = stream.names.filter((name) => name === 'CustomEvent' || name.startsWith('ToolCall'));
    expect(names).toEqual(['ToolCallStarted', 'CustomEvent', 'CustomEvent', 'ToolCallCompleted']);
    const [first] = stream.all('CustomEvent');
    expect(first).toMatchObject({ progress: 50, note: 'half\u2028way', tool_call_id: 'c9', agent_id: 'a' });
    expect(first?.run_id).toBe(stream.first('RunStarted').run_id);
  });

  test('does not let an event of a tool pass for one of the run', async () => {
    const stream = await follow(book.write('liar', { toolCalls: [call('liar')] }, 'ok'));
    const { run_id } = stream.first('RunStarted');
    expect(stream.events.map((event) => event.event_index)).toEqual(stream.events.map((_, index) => index));
    expect(stream.all('RunCompleted')).toHaveLength(1);
    for (const event of stream.events) expect(event).toMatchObject({ run_id, agent_id: 'a' });
  });

  test('ends with a tool that requests it, and shows its result', async () => {
    const stream = await follow(book.write('stop there', { toolCalls: [call('last')] }, 'never said'));
    expect(stream.first('RunCompleted').content).toContain('final word');
    expect(stream.all('ModelRequestStarted')).toHaveLength(1);
  });
});

describe('stream_events=false', () => {
  test('leaves only the content', async () => {
    const message = book.write('quiet', { text: 'hm ', toolCalls: [call('fast')] }, 'done now');
    const stream = await follow(message, { stream_events: false });
    expect(new Set(stream.names)).toEqual(new Set(['RunContent']));
    expect(stream.content).toBe('hm done now');
    const ids = stream.frames.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
  });

  test('still reports that the run failed', async () => {
    const stream = await follow(book.write('quiet failure', { error: 'no model' }), { stream_events: false });
    expect(stream.names.at(-1)).toBe('RunError');
  });
});
