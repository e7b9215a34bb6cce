import { describe, expect, it } from 'vitest';
import {
  ask,
  collect,
  failure,
  message,
  modelFor,
  open,
  secret,
} from '../../../../test/support/providers/model-calls.js';
import { finishChunk, textChunk, usageChunk } from '../../../../test/support/providers/model-server.js';
import type { Media } from '../../media/media.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import { openAICompatible } from './openai-compatible.js';

const call = (fragment: object) => ({ choices: [{ index: 0, delta: { tool_calls: [fragment] } }] });
const toolCallsOf = (response: ModelResponse) =>
  response.toolCalls.map(({ name, arguments: args }) => [name, args]);
const answer = (parts: object, rest: object = {}) => ({
  id: 'chatcmpl-9',
  choices: [{ index: 0, message: { role: 'assistant', ...parts }, finish_reason: 'stop' }],
  ...rest,
});

describe('a call without streaming', () => {
  it('answers with text, usage and the provider’s id', async () => {
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 9,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 12 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    const { model, server } = await modelFor([{ body: answer({ content: 'Hi there' }, { usage }) }]);
    await expect(model.generate(ask(), open())).resolves.toEqual({
      content: 'Hi there',
      toolCalls: [],
      finishReason: 'stop',
      providerData: { id: 'chatcmpl-9' },
      usage: { inputTokens: 20, outputTokens: 9, totalTokens: 29, cacheReadTokens: 12, reasoningTokens: 4 },
    });
    const [request] = server.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(request?.body).toEqual({ model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] });
  });

  it('counts reasoning tokens once where the provider counts them beside the output', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 35,
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const { model } = await modelFor([{ body: answer({ content: 'x' }, { usage }) }]);
    const response = await model.generate(ask(), open());
    expect(response.usage).toEqual({
      inputTokens: 10,
      outputTokens: 25,
      totalTokens: 35,
      reasoningTokens: 20,
    });
  });

  it('reads tool calls, arguments sent as an object included', async () => {
    const tool_calls = [
      { id: 'a', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
      { id: 'b', type: 'function', function: { name: 'sub', arguments: { a: 2 } } },
      { type: 'function', function: { name: 'now', arguments: '' } },
    ];
    const { model } = await modelFor([{ body: answer({ content: null, tool_calls }) }]);
    const response = await model.generate(ask(), open());
    expect(toolCallsOf(response)).toEqual([
      ['add', '{"a":1}'],
      ['sub', '{"a":2}'],
      ['now', ''],
    ]);
    expect(response.finishReason).toBe('tool_calls');
    expect(new Set(response.toolCalls.map(({ id }) => id)).size).toBe(3);
  });

  it('names an answer that is not in the protocol', async () => {
    const { model } = await modelFor([{ body: { hello: 1 } }, { body: 'plain words' }]);
    expect((await failure(model.generate(ask(), open()))).message).toBe(
      'Test sent an answer without choices: {"hello":1}',
    );
    expect((await failure(model.generate(ask(), open()))).message).toBe(
      'Test sent something that is not JSON: plain words',
    );
  });
});

describe('the request', () => {
  it('carries tools, the choice among them, parameters and headers', async () => {
    const { model, server } = await modelFor([{ body: answer({ content: '' }) }], {
      parameters: { temperature: 0, max_tokens: 7 },
      headers: { 'x-team': 'blue' },
    });
    const add = { name: 'add', description: 'Adds', inputSchema: { type: 'object' }, strict: true };
    // those of one call over those of the model
    const parameters = { max_tokens: 9, seed: 3 };
    await model.generate(ask({ tools: [add], toolChoice: { name: 'add' }, parameters }), open());
    expect(server.requests[0]?.headers['x-team']).toBe('blue');
    expect(server.requests[0]?.body).toMatchObject({
      temperature: 0,
      max_tokens: 9,
      seed: 3,
      tools: [
        {
          type: 'function',
          function: { name: 'add', description: 'Adds', parameters: { type: 'object' }, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'add' } },
    });
  });

  it('asks for the output schema, strictly only where it fits the strict mode', async () => {
    const { model, server } = await modelFor([
      { body: answer({ content: '{}' }) },
      { body: answer({ content: '{}' }) },
    ]);
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const loose = { type: 'object', properties: { a: { type: 'string' } } };
    await model.generate(ask({ output: { name: 'My answer', schema: closed, strict: true } }), open());
    await model.generate(ask({ output: { name: 'b', schema: loose, strict: true } }), open());
    expect(server.requests.map(({ body }) => body.response_format)).toEqual([
      { type: 'json_schema', json_schema: { name: 'My_answer', schema: closed, strict: true } },
      { type: 'json_schema', json_schema: { name: 'b', schema: loose, strict: false } },
    ]);
  });

  it('leaves the schema to the prompt where the server does not know it', async () => {
    const { model, server } = await modelFor([{ body: answer({ content: '{}' }) }], {
      structuredOutput: 'prompted',
    });
    await model.generate(ask({ output: { name: 'b', schema: {}, strict: true } }), open());
    expect(model.capabilities.structuredOutput).toBe('prompted');
    expect(server.requests[0]?.body.response_format).toBeUndefined();
  });

  it('repeats the conversation with its tool calls, repaired where they were malformed or unanswered', async () => {
    const { model, server } = await modelFor([{ body: answer({ content: '' }) }]);
    const toolCalls = [
      { id: 'a', name: 'add', arguments: '{"a": 1}' },
      { id: 'b', name: 'add', arguments: '{"a": ' },
      { id: 'c', name: 'now', arguments: '' },
    ];
    const messages = [
      message('system', 'Be brief.'),
      message('user', 'Go'),
      message('assistant', '', { toolCalls }),
      message('tool', '1', { toolCallId: 'a', toolName: 'add' }),
    ];
    await model.generate(ask({ messages }), open());
    const wireCall = (id: string, name: string, args: string) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    });
    expect(server.requests[0]?.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          wireCall('a', 'add', '{"a": 1}'),
          wireCall('b', 'add', '{}'),
          wireCall('c', 'now', '{}'),
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: 'This call was not carried out.' },
      { role: 'tool', tool_call_id: 'c', content: 'This call was not carried out.' },
    ]);
  });

  it('shows a model its reasoning again while it calls tools, where that is wanted', async () => {
    const toolCalls = [{ id: 'a', name: 'add', arguments: '{}' }];
    const messages = [
      message('assistant', 'Before', { reasoningContent: 'long ago' }),
      message('assistant', '', { toolCalls, reasoningContent: 'Hm' }),
      message('tool', '1', { toolCallId: 'a' }),
    ];
    for (const sendReasoning of [true, false]) {
      const { model, server } = await modelFor([{ body: answer({ content: '' }) }], { sendReasoning });
      await model.generate(ask({ messages }), open());
      expect(
        server.requests[0]?.body.messages.map((sent: Record<string, unknown>) => sent.reasoning_content),
      ).toEqual([undefined, sendReasoning ? 'Hm' : undefined, undefined]);
    }
  });

  it('carries images, audio and files', async () => {
    const { model, server } = await modelFor([{ body: answer({ content: '' }) }]);
    const stored: Record<string, string> = {
      picture: 'PNG',
      sound: 'WAV',
      notes: 'some notes',
      paper: 'PDF',
    };
    const media: Media[] = [
      { kind: 'image', id: '1', url: 'https://example.com/a.png', details: { detail: 'low' } },
      { kind: 'image', id: '2', hash: 'picture', mimeType: 'image/png' },
      { kind: 'audio', id: '3', hash: 'sound', mimeType: 'audio/mpeg' },
      { kind: 'file', id: '4', hash: 'notes', mimeType: 'text/plain', filename: 'notes.txt' },
      { kind: 'file', id: '5', hash: 'paper', mimeType: 'application/pdf', filename: 'paper.pdf' },
    ];
    const contents = {
      put: async () => '',
      get: async (hash: string) => new TextEncoder().encode(stored[hash]),
    };
    await model.generate(ask({ messages: [message('user', 'Look', { media })], media: contents }), open());
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    expect(server.requests[0]?.body.messages[0].content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64('PNG')}` } },
      { type: 'input_audio', input_audio: { data: base64('WAV'), format: 'mp3' } },
      { type: 'text', text: 'File notes.txt:\nsome notes' },
      {
        type: 'file',
        file: { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${base64('PDF')}` },
      },
    ]);
  });

  it('says which medium has lost its bytes', async () => {
    const { model } = await modelFor([]);
    const media: Media[] = [{ kind: 'image', id: 'i1', hash: 'gone' }];
    const error = await failure(model.generate(ask({ messages: [message('user', 'x', { media })] }), open()));
    expect(error.message).toContain('image i1');
  });

  it('puts the pictures of tools after their answers', async () => {
    const { model, server } = await modelFor([{ body: answer({ content: '' }) }]);
    const media: Media[] = [{ kind: 'image', id: '1', url: 'https://example.com/a.png' }];
    const toolCalls = ['a', 'b'].map((id) => ({ id, name: 'draw', arguments: '{}' }));
    const messages = [
      message('assistant', '', { toolCalls }),
      message('tool', 'one', { toolCallId: 'a', media }),
      message('tool', 'two', { toolCallId: 'b' }),
    ];
    await model.generate(ask({ messages }), open());
    expect(server.requests[0]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
  });

  it('keeps the query of the base URL and refuses credentials in it without showing them', async () => {
    const { model, server } = await modelFor([{ body: answer({ content: '' }) }]);
    const { baseUrl } = { baseUrl: `${server.url}/?api-version=1` };
    await openAICompatible({ id: 'x', baseUrl }).generate(ask(), open());
    expect(server.requests[0]?.path).toBe('/v1/chat/completions?api-version=1');
    expect(model.name).toBe('OpenAICompatible');
    for (const wrong of ['localhost:8000/v1', '127.0.0.1:8000', 'me:hidden@localhost:8000'])
      expect(() => openAICompatible({ id: 'x', baseUrl: wrong })).toThrow(
        /^(?!.*hidden).*0(\/v1)?' of a model is not an http or https URL\. Give one such as http:/,
      );
    expect(() => openAICompatible({ id: 'x', baseUrl: 'https://me:hidden@host/v1' })).toThrow(
      /^(?!.*hidden).*at host holds a user name or password/,
    );
  });
});

describe('a stream', () => {
  const events = [
    { id: 'chatcmpl-1', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    { choices: [{ index: 0, delta: { reasoning_content: 'Hm' } }] },
    { choices: [{ index: 0, delta: { reasoning: ' well' } }] },
    textChunk('Grüße, '),
    textChunk('世界 🌍'),
    finishChunk(),
    usageChunk({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }),
  ];
  const expected = {
    deltas: [
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: ' well' },
      { type: 'text', text: 'Grüße, ' },
      { type: 'text', text: '世界 🌍' },
    ],
    response: {
      content: 'Grüße, 世界 🌍',
      reasoningContent: 'Hm well',
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      providerData: { id: 'chatcmpl-1' },
    },
  };

  it('yields deltas and then the whole', async () => {
    const { model, server } = await modelFor([{ events }]);
    expect(await collect(model.stream(ask(), open()))).toEqual(expected);
    expect(server.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('is the same when every byte arrives alone', async () => {
    const { model } = await modelFor([{ events, byteByByte: true }]);
    expect(await collect(model.stream(ask(), open()))).toEqual(expected);
  });

  it('leaves its connection for later calls', async () => {
    const { model, server } = await modelFor(() => ({ events }));
    for (let count = 0; count < 20; count++) await collect(model.stream(ask(), open()));
    expect(server.connections()).toBeLessThan(20);
  });

  it('does not need [DONE] when a finish reason came, even if the connection breaks then', async () => {
    const { model } = await modelFor([
      { events, ending: 'end' },
      { events, ending: 'reset' },
    ]);
    expect(await collect(model.stream(ask(), open()))).toEqual(expected);
    expect(await collect(model.stream(ask(), open()))).toEqual(expected);
  });

  it('does not need a finish reason when [DONE] came', async () => {
    const { model } = await modelFor([{ events: [textChunk('x')] }]);
    expect((await collect(model.stream(ask(), open()))).response).toMatchObject({
      content: 'x',
      finishReason: 'stop',
    });
  });

  it('fails when it ends in the middle', async () => {
    const { model } = await modelFor([
      { events: [textChunk('x')], ending: 'end' },
      { events: [textChunk('x')], ending: 'reset' },
    ]);
    const ended = await failure(collect(model.stream(ask(), open())));
    expect(ended).toMatchObject({ kind: 'connection', retryable: true });
    expect(ended.message).toBe('Test ended the stream before the answer was complete.');
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      kind: 'connection',
      retryable: true,
    });
  });

  it('yields what came before an error within the stream', async () => {
    const error = { message: `overloaded (${secret})`, code: 503 };
    const { model } = await modelFor([{ events: [textChunk('begun'), { error }] }]);
    const seen: ModelChunk[] = [];
    const reading = (async () => {
      for await (const chunk of model.stream(ask(), open())) seen.push(chunk);
    })();
    expect(await failure(reading)).toMatchObject({
      message: 'Test reported an error: overloaded (***)',
      status: 503,
      retryable: true,
    });
    expect(seen).toEqual([{ type: 'text', text: 'begun' }]);
  });

  it('reads an event named error', async () => {
    const { model } = await modelFor([
      { raw: 'event: error\ndata: {"message":"no more"}\n\n', ending: 'end' },
    ]);
    expect((await failure(collect(model.stream(ask(), open())))).message).toBe(
      'Test reported an error: no more',
    );
  });

  it('names a chunk that is not JSON', async () => {
    const { model } = await modelFor([{ events: ['{"choices": [', textChunk('x')] }]);
    const error = await failure(collect(model.stream(ask(), open())));
    expect(error).toMatchObject({
      kind: 'protocol',
      message: 'Test sent something that is not JSON: {"choices": [',
    });
  });

  it('accepts a server that answers a stream with a whole body', async () => {
    const { model } = await modelFor([{ body: answer({ content: 'all at once' }) }]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(deltas).toEqual([{ type: 'text', text: 'all at once' }]);
    expect(response.content).toBe('all at once');
  });
});

describe('tool calls in a stream', () => {
  async function streamed(...fragments: object[]): Promise<ModelResponse> {
    const { model } = await modelFor([{ events: [...fragments.map(call), finishChunk('tool_calls')] }]);
    return (await collect(model.stream(ask(), open()))).response;
  }

  it('are put together from fragments by index', async () => {
    const response = await streamed(
      { index: 0, id: 'a', function: { name: 'add', arguments: '' } },
      { index: 1, id: 'b', function: { name: 'sub', arguments: '{"x"' } },
      { index: 0, function: { arguments: '{"a":' } },
      { index: 1, function: { arguments: ':2}' } },
      { index: 0, function: { arguments: '1}' } },
    );
    expect(response.toolCalls).toEqual([
      { id: 'a', name: 'add', arguments: '{"a":1}' },
      { id: 'b', name: 'sub', arguments: '{"x":2}' },
    ]);
    expect(response.finishReason).toBe('tool_calls');
  });

  it('are distinguished without an index', async () => {
    const response = await streamed(
      { id: 'a', function: { name: 'add', arguments: '{"a":' } },
      { function: { arguments: '1}' } },
      { id: 'b', function: { name: 'add', arguments: '{"a":2}' } },
    );
    expect(toolCallsOf(response)).toEqual([
      ['add', '{"a":1}'],
      ['add', '{"a":2}'],
    ]);
  });

  it('are distinguished without an id, when all are numbered 0', async () => {
    const response = await streamed(
      { index: 0, function: { name: 'add', arguments: '{"a":1}' } },
      { index: 0, function: { name: 'add', arguments: '{"a":2}' } },
      { index: 0, id: 'x', function: { name: 'now', arguments: {} } },
      { index: 0, id: 'y', function: { name: 'now', arguments: '' } },
    );
    expect(toolCallsOf(response)).toEqual([
      ['add', '{"a":1}'],
      ['add', '{"a":2}'],
      ['now', '{}'],
      ['now', ''],
    ]);
    expect(new Set(response.toolCalls.map(({ id }) => id)).size).toBe(4);
  });

  it('keep one name and id where a server repeats them with each fragment', async () => {
    const response = await streamed(
      { index: 0, id: 'a', function: { name: 'add', arguments: '{"a"' } },
      { index: 0, id: 'a', function: { name: 'add', arguments: ':1}' } },
    );
    expect(response.toolCalls).toEqual([{ id: 'a', name: 'add', arguments: '{"a":1}' }]);
  });
});
