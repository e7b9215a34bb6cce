import { afterEach, describe, expect, it } from 'vitest';
import {
  finishChunk,
  type ModelServer,
  type ModelServerScript,
  startModelServer,
  textChunk,
  usageChunk,
} from '../../../test/support/model-server.js';
import type { Media } from '../media.js';
import type { Message, Role } from './message.js';
import type { ModelChunk, ModelRequest, ModelResponse } from './model.js';
import { ModelError } from './model-error.js';
import { type OpenAICompatibleOptions, openAICompatible } from './openai-compatible.js';

const secret = 'sk-very-secret-key';
let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function modelFor(script: ModelServerScript, options: Partial<OpenAICompatibleOptions> = {}) {
  server = await startModelServer(script);
  const waits: number[] = [];
  const model = openAICompatible({
    id: 'test-model',
    provider: 'Test',
    baseUrl: server.url,
    apiKey: secret,
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { model, server, waits };
}

let messageCount = 0;
function message(role: Role, content: string, rest: Partial<Message> = {}): Message {
  return { id: `m${++messageCount}`, role, content, createdAt: 0, ...rest };
}

function ask(parts: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [message('user', 'Hello')],
    tools: [],
    media: { put: async () => '', get: async () => undefined },
    ...parts,
  };
}

const open = () => ({ signal: new AbortController().signal });

async function collect(
  chunks: AsyncIterable<ModelChunk>,
): Promise<{ deltas: ModelChunk[]; response: ModelResponse }> {
  const all: ModelChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const last = all.pop();
  if (last?.type !== 'response') throw new Error('the stream did not end with a response');
  return { deltas: all, response: last.response };
}

async function failure(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect(error.message).not.toContain(secret);
  return error as ModelError;
}

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

  it('shows a refusal as the answer', async () => {
    const { model } = await modelFor([{ body: answer({ content: null, refusal: 'I will not.' }) }]);
    expect(await model.generate(ask(), open())).toMatchObject({
      content: 'I will not.',
      finishReason: 'content_filter',
    });
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
    const add = { name: 'add', description: 'Adds', parameters: { type: 'object' } };
    await model.generate(ask({ tools: [add], toolChoice: { name: 'add' } }), open());
    expect(server.requests[0]?.headers['x-team']).toBe('blue');
    expect(server.requests[0]?.body).toMatchObject({
      temperature: 0,
      max_tokens: 7,
      tools: [{ type: 'function', function: add }],
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

  it('repeats the conversation with its tool calls, mended where they were malformed', async () => {
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
    ]);
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
    const messages = [
      message('tool', 'one', { toolCallId: 'a', media }),
      message('tool', 'two', { toolCallId: 'b' }),
    ];
    await model.generate(ask({ messages }), open());
    expect(server.requests[0]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
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

  it('hands on what came before an error inside the stream', async () => {
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

  it('are told apart without an index', async () => {
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

  it('are told apart without an id, when all are numbered 0', async () => {
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

describe('failures', () => {
  it.each([
    [
      'JSON',
      { body: { error: { message: `Bad key ${secret}`, code: 'x' } } },
      'Test answered 400: Bad key ***',
    ],
    ['another JSON', { body: { detail: 'No such model' } }, 'Test answered 400: No such model'],
    ['a text', { body: 'nope' }, 'Test answered 400: nope'],
    ['nothing', { body: '' }, 'Test answered 400: Bad Request'],
    [
      'HTML',
      { body: '<!DOCTYPE html><html><head><title>Gateway</title></head></html>' },
      "Test answered 400: an HTML page titled “Gateway” instead of a model's answer",
    ],
  ])('show what the provider said in %s', async (_, reply, text) => {
    const { model } = await modelFor([{ status: 400, ...reply }]);
    const error = await failure(collect(model.stream(ask(), open())));
    expect(error).toMatchObject({ message: text, status: 400, provider: 'Test', retryable: false });
  });

  it('are tried again before the first byte: 429, 500 and a broken connection', async () => {
    const { model, server, waits } = await modelFor(
      [
        { status: 429, headers: { 'retry-after': '3' }, body: {} },
        { status: 500, body: 'oops' },
        { instead: 'reset' },
        { events: [], ending: 'reset' },
        { events: [textChunk('ok')] },
      ],
      { retries: 4 },
    );
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
    expect(server.requests).toHaveLength(5);
    expect(waits[0]).toBe(3000);
    expect(waits.every((ms) => ms > 0 && ms <= 8_000)).toBe(true);
  });

  it('are not tried again when the provider says no, wants a long pause, or the account is empty', async () => {
    const { model, server } = await modelFor([
      { status: 401, body: { error: { message: 'no' } } },
      { status: 429, headers: { 'retry-after': '3600' }, body: {} },
      { status: 429, body: { error: { message: 'pay', code: 'insufficient_quota' } } },
    ]);
    expect(await failure(model.generate(ask(), open()))).toMatchObject({ status: 401, retryable: false });
    expect(await failure(model.generate(ask(), open()))).toMatchObject({
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    expect(await failure(model.generate(ask(), open()))).toMatchObject({ status: 429, retryable: false });
    expect(server.requests).toHaveLength(3);
  });

  it('come out after two retries by default', async () => {
    const { model, server } = await modelFor(() => ({ status: 503, body: { error: 'busy' } }));
    expect(await failure(model.generate(ask(), open()))).toMatchObject({
      message: 'Test answered 503: busy',
      status: 503,
    });
    expect(server.requests).toHaveLength(3);
  });

  it('do not follow a redirect with the key', async () => {
    const { model } = await modelFor([
      { status: 307, headers: { location: 'http://elsewhere.test/v1?x=1' }, body: '' },
    ]);
    expect((await failure(model.generate(ask(), open()))).message).toBe(
      'Test answered 307: it redirects to http://elsewhere.test/v1. Set the base URL to where it really is.',
    );
  });

  it('say that nobody listens', async () => {
    const { model, server } = await modelFor([]);
    await server.stop();
    const error = await failure(model.generate(ask(), open()));
    expect(error).toMatchObject({ kind: 'connection', retryable: true });
    expect(error.message).toMatch(/^The connection to Test failed: .*ECONNREFUSED/);
  });
});

describe('time-outs', () => {
  it('end a call whose first byte does not come', async () => {
    const { model, server } = await modelFor([{ instead: 'stall' }], { firstByteTimeoutMs: 30 });
    const error = await failure(model.generate(ask(), open()));
    expect(error).toMatchObject({
      kind: 'timeout',
      retryable: true,
      message: 'Test sent no answer within 30 ms.',
    });
    await server.clientLeft();
    expect(server.requests).toHaveLength(1);
  });

  it('end a stream that falls silent', async () => {
    const { model, server } = await modelFor([{ events: [textChunk('x')], ending: 'stall' }], {
      timeoutMs: 30,
    });
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      kind: 'timeout',
      message: 'Test fell silent in the middle of its answer within 30 ms.',
    });
    await server.clientLeft();
  });
});

describe('abort', () => {
  const reason = new Error('cancelled by the user');

  it('closes the connection while the first byte is awaited', async () => {
    const { model, server } = await modelFor([{ instead: 'stall' }]);
    const controller = new AbortController();
    const answer = model.generate(ask(), { signal: controller.signal });
    await Promise.race([server.answered(), answer]);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await server.clientLeft();
  });

  it('closes the connection in the middle of a stream', async () => {
    const { model, server } = await modelFor([{ events: [textChunk('x')], ending: 'stall' }]);
    const controller = new AbortController();
    const chunks = model.stream(ask(), { signal: controller.signal })[Symbol.asyncIterator]();
    await chunks.next();
    const pending = chunks.next();
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    await server.clientLeft();
  });

  it('closes the connection when the reader leaves', async () => {
    const { model, server } = await modelFor([{ events: [textChunk('x')], ending: 'stall' }]);
    for await (const _ of model.stream(ask(), open())) break;
    await server.clientLeft();
  });

  it('ends the pause before another try', async () => {
    const controller = new AbortController();
    const { model, server } = await modelFor([{ status: 429, headers: { 'retry-after': '20' }, body: {} }], {
      wait: undefined,
    });
    const answer = model.generate(ask(), { signal: controller.signal });
    await server.answered();
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });

  it('makes no request when it came first', async () => {
    const { model, server } = await modelFor([]);
    await expect(model.generate(ask(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });
});
