import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  type LanguageModelV2,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
  type LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { fakeAiSdkModel as fake } from '../../../../test/support/providers/ai-sdk-model.js';
import {
  ask,
  collect,
  failure,
  joined,
  kept,
  mediaOf,
  message,
  open,
} from '../../../../test/support/providers/model-calls.js';
import {
  finishChunk,
  type ModelServerReply,
  startModelServer,
  textChunk,
  usageChunk,
} from '../../../../test/support/providers/model-server.js';
import { untrustedServer } from '../../../../test/support/untrusted-certificate.js';
import { ModelError } from '../model-error.js';
import { resolveModel } from '../resolve.js';
import type { AiSdkLanguageModel } from './types.js';

const usage = {
  inputTokens: { total: 20, noCache: 8, cacheRead: 12, cacheWrite: 0 },
  outputTokens: { total: 9, text: 5, reasoning: 4 },
};
const finish = (unified: string) => ({ type: 'finish', usage, finishReason: { unified, raw: unified } });
const signed = (signature: string) => ({ providerMetadata: { fake: { signature } } });
const parts = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'resp-1', modelId: 'fake-1' },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
  { type: 'reasoning-delta', id: 'r', delta: ' well', ...signed('S1') },
  { type: 'reasoning-end', id: 'r' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hel' },
  { type: 'text-delta', id: 't', delta: 'lo' },
  { type: 'text-end', id: 't' },
  { type: 'tool-input-start', id: 'c1', toolName: 'add' },
  { type: 'tool-input-delta', id: 'c1', delta: '{"a":1}' },
  { type: 'tool-input-end', id: 'c1' },
  { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1}', ...signed('S2') },
  { type: 'tool-call', toolCallId: 'c2', toolName: 'now', input: '' },
  finish('tool-calls'),
];

it('accepts the model types of the AI SDK as they are', () => {
  expectTypeOf<LanguageModelV2>().toExtend<AiSdkLanguageModel>();
  expectTypeOf<LanguageModelV3>().toExtend<AiSdkLanguageModel>();
  expectTypeOf<LanguageModelV3GenerateResult>().toExtend<
    Awaited<ReturnType<AiSdkLanguageModel['doGenerate']>>
  >();
  expectTypeOf<LanguageModelV3StreamPart>().toHaveProperty('type');
  expectTypeOf<LanguageModelV3CallOptions>().toHaveProperty('abortSignal');
});

describe('a stream of an AI SDK model', () => {
  it('yields reasoning and text, then the whole', async () => {
    const { bridge } = fake('v3', [parts]);
    const { deltas, response } = await collect(bridge.stream(ask(), open()));
    expect(joined(deltas)).toEqual([
      ['reasoning', 'Hm well'],
      ['text', 'Hello'],
    ]);
    expect(response).toMatchObject({
      content: 'Hello',
      reasoningContent: 'Hm well',
      toolCalls: [
        { id: 'c1', name: 'add', arguments: '{"a":1}' },
        { id: 'c2', name: 'now', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: { inputTokens: 20, outputTokens: 9, totalTokens: 29, cacheReadTokens: 12, reasoningTokens: 4 },
      providerData: { id: 'resp-1' },
    });
  });

  it('hands back what the provider said beside each part', async () => {
    const { bridge, calls } = fake('v3', [parts, parts]);
    const { response } = await collect(bridge.stream(ask(), open()));
    const messages = [
      message('system', 'Be brief.'),
      message('user', 'Go'),
      kept(response),
      message('tool', '1', { toolCallId: 'c1', toolName: 'add' }),
      message('tool', 'no', { toolCallId: 'c2', toolName: 'now', toolCallError: true }),
    ];
    await collect(bridge.stream(ask({ messages }), open()));
    const options = (signature: string) => ({ providerOptions: { fake: { signature } } });
    expect(calls[1].prompt).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm well', ...options('S1') },
          { type: 'text', text: 'Hello' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1 }, ...options('S2') },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'now', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'add', output: { type: 'text', value: '1' } },
          {
            type: 'tool-result',
            toolCallId: 'c2',
            toolName: 'now',
            output: { type: 'error-text', value: 'no' },
          },
        ],
      },
    ]);
  });

  it('keeps tools that the provider ran out of the calls, and shows them to it again', async () => {
    const searched = [
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{"q":1}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: [1], providerExecuted: true },
      { type: 'text-delta', id: 't', delta: 'Found' },
      finish('stop'),
    ];
    const { bridge, calls } = fake('v3', [searched, searched]);
    const { response } = await collect(bridge.stream(ask(), open()));
    expect(response).toMatchObject({ content: 'Found', toolCalls: [], finishReason: 'stop' });
    await collect(bridge.stream(ask({ messages: [message('user', 'x'), kept(response)] }), open()));
    expect(calls[1].prompt[1].content).toEqual([
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: { q: 1 }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', output: { type: 'json', value: [1] } },
      { type: 'text', text: 'Found' },
    ]);
  });

  it('stores the files that the model made', async () => {
    const file = (data: unknown) => [{ type: 'file', mediaType: 'image/png', data }, finish('stop')];
    const bytes = new TextEncoder().encode('PNG');
    const { bridge } = fake('v4', [file('UE5H'), file(bytes), file({ type: 'data', data: bytes })]);
    for (const _ of [1, 2, 3]) {
      const { response } = await collect(bridge.stream(ask({ media: mediaOf({}) }), open()));
      expect(response.media).toMatchObject([{ kind: 'image', hash: 'hash of PNG', mimeType: 'image/png' }]);
    }
  });

  it('is cancelled when its reader leaves, and stops with the signal', async () => {
    const { bridge, cancelled, calls } = fake('v3', [parts, parts]);
    for await (const _ of bridge.stream(ask(), open())) break;
    expect(cancelled()).toBe(1);
    const controller = new AbortController();
    const reason = new Error('cancelled by the user');
    const reading = (async () => {
      for await (const _ of bridge.stream(ask(), { signal: controller.signal })) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(cancelled()).toBe(2);
    expect(calls[1].abortSignal).toBe(controller.signal);
  });

  it('fails when it ends without its end', async () => {
    const { bridge } = fake('v3', [[{ type: 'text-delta', id: 't', delta: 'x' }]]);
    expect(await failure(collect(bridge.stream(ask(), open())))).toMatchObject({ kind: 'connection' });
  });
});

describe('a whole answer of an AI SDK model', () => {
  it('is read from version 2 too', async () => {
    const { bridge } = fake('v2', [
      [
        {
          content: [
            { type: 'reasoning', text: 'Hm' },
            { type: 'text', text: 'A' },
            { type: 'text', text: 'B' },
            { type: 'tool-call', toolCallId: 'c', toolName: 'now', input: '{}' },
          ],
          finishReason: 'tool-calls',
          usage: {
            inputTokens: 5,
            outputTokens: 7,
            totalTokens: 12,
            cachedInputTokens: 9,
            reasoningTokens: 2,
          },
          response: { id: 'r' },
        },
      ],
    ]);
    expect(await bridge.generate(ask(), open())).toEqual({
      content: 'AB',
      reasoningContent: 'Hm',
      toolCalls: [{ id: 'c', name: 'now', arguments: '{}' }],
      finishReason: 'tool_calls',
      providerData: { id: 'r' },
      usage: { inputTokens: 14, outputTokens: 7, totalTokens: 21, cacheReadTokens: 9, reasoningTokens: 2 },
    });
  });

  it('is asked for with tools, the choice among them and a shape', async () => {
    const { bridge, calls } = fake('v3', [[{ content: [], finishReason: { unified: 'stop' }, usage }]]);
    const schema = { type: 'object' };
    await bridge.generate(
      ask({
        tools: [{ name: 'add', description: 'Adds', inputSchema: schema }],
        toolChoice: { name: 'add' },
        output: { name: 'sum', schema, strict: true },
        parameters: { temperature: 0, providerOptions: { fake: { tier: 'flex' } } },
      }),
      open(),
    );
    expect(calls[0]).toMatchObject({
      temperature: 0,
      providerOptions: { fake: { tier: 'flex' } },
      tools: [{ type: 'function', name: 'add', description: 'Adds', inputSchema: schema }],
      toolChoice: { type: 'tool', toolName: 'add' },
      responseFormat: { type: 'json', name: 'sum', schema },
    });
  });

  it.each([
    ['v2', { type: 'media', data: 'UE5H', mediaType: 'image/png' }],
    ['v3', { type: 'image-data', data: 'UE5H', mediaType: 'image/png' }],
    ['v4', { type: 'file', data: { type: 'data', data: Buffer.from('PNG') }, mediaType: 'image/png' }],
  ] as const)('is asked for with media in the form of %s', async (version, result) => {
    const { bridge, calls } = fake(version, [[{ content: [], finishReason: 'stop', usage }]]);
    const stored = { kind: 'image', id: '1', hash: 'png' } as const;
    const linked = { kind: 'image', id: '2', url: 'https://example.com/a.png' } as const;
    const toolCalls = [{ id: 'a', name: 'draw', arguments: '{}' }];
    const messages = [
      message('user', 'Look', { media: [stored, linked] }),
      message('assistant', '', { toolCalls }),
      message('tool', 'drawn', { toolCallId: 'a', toolName: 'draw', media: [stored] }),
    ];
    await bridge.generate(ask({ messages, media: mediaOf({ png: 'PNG' }) }), open());
    const url = new URL('https://example.com/a.png');
    const bytes = Buffer.from('PNG');
    const [user, , tool] = calls[0].prompt;
    expect(user.content).toEqual([
      { type: 'text', text: 'Look' },
      {
        type: 'file',
        mediaType: 'image/png',
        data: version === 'v4' ? { type: 'data', data: bytes } : bytes,
      },
      { type: 'file', mediaType: 'image/*', data: version === 'v4' ? { type: 'url', url } : url },
    ]);
    expect(tool.content[0].output).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'drawn' }, result],
    });
  });
});

describe('the errors of an AI SDK model', () => {
  const refused = (statusCode: number, responseHeaders: Record<string, string> = {}) =>
    new APICallError({
      message: 'It said no',
      url: 'https://example.com',
      requestBodyValues: {},
      statusCode,
      responseHeaders,
      responseBody: '{"error":{"message":"Slow down"}}',
    });

  it('are retried with the hints of the provider, before any text was shown', async () => {
    const { bridge, waits, calls } = fake('v3', [
      refused(429, { 'retry-after': '7' }),
      [
        { type: 'stream-start', warnings: [] },
        { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
      ],
      parts,
    ]);
    expect((await collect(bridge.stream(ask(), open()))).response.content).toBe('Hello');
    expect(calls).toHaveLength(3);
    expect(waits[0]).toBe(7000);
  });

  it('say what the provider said', async () => {
    const { bridge } = fake('v3', [refused(401), new Error('boom'), new TypeError('Cannot read')]);
    expect(await failure(bridge.generate(ask(), open()))).toMatchObject({
      message: 'fake.chat answered 401: Slow down',
      status: 401,
      retryable: false,
    });
    expect((await failure(bridge.generate(ask(), open()))).message).toBe('fake.chat failed: boom');
    expect(await failure(bridge.generate(ask(), open()))).toBeInstanceOf(ModelError);
  });
});

describe('a real provider of the AI SDK', () => {
  async function served(replies: ModelServerReply[], work: (model: LanguageModelV3) => Promise<void>) {
    const server = await startModelServer(replies);
    try {
      await work(createOpenAICompatible({ name: 'local', baseURL: server.url, apiKey: 'k' })('m'));
    } finally {
      await server.stop();
    }
    return server.requests;
  }

  it('is accepted as it is and streams', async () => {
    const events = [
      textChunk('Hel'),
      textChunk('lo'),
      finishChunk(),
      usageChunk({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }),
    ];
    const requests = await served([{ events }], async (real) => {
      const model = resolveModel(real);
      expect(model).toMatchObject({ id: 'm', provider: 'local.chat', name: 'AiSdk' });
      expect(model.capabilities.structuredOutput).toBe('prompted');
      const { deltas, response } = await collect(model.stream(ask(), open()));
      expect(joined(deltas)).toEqual([['text', 'Hello']]);
      expect(response).toMatchObject({
        content: 'Hello',
        finishReason: 'stop',
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      });
    });
    expect(requests[0]?.body.messages).toEqual([{ role: 'user', content: 'Hello' }]);
  });

  it('calls tools and reports its errors', async () => {
    const toolCall = { id: 'a', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
    const whole = {
      id: 'x',
      choices: [{ message: { content: null, tool_calls: [toolCall] }, finish_reason: 'tool_calls' }],
    };
    const requests = await served(
      [{ body: whole }, { status: 400, body: { error: { message: 'No such model' } } }],
      async (real) => {
        const model = resolveModel(real);
        const response = await model.generate(ask(), open());
        expect(response.toolCalls).toEqual([{ id: 'a', name: 'add', arguments: '{"a":1}' }]);
        const messages = [
          message('user', 'x'),
          kept(response),
          message('tool', '2', { toolCallId: 'a', toolName: 'add' }),
        ];
        expect((await failure(model.generate(ask({ messages }), open()))).message).toBe(
          'local.chat answered 400: No such model',
        );
      },
    );
    expect(requests[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('names the setting for a certificate of an unknown authority, without another try', async () => {
    const model = resolveModel(
      createOpenAICompatible({ name: 'local', baseURL: await untrustedServer() })('m'),
    );
    const error = await failure(model.generate(ask(), open()));
    expect(error).toMatchObject({ kind: 'connection', retryable: false });
    expect(error.message).toMatch(/authority .*\(DEPTH_ZERO_SELF_SIGNED_CERT\).* NODE_EXTRA_CA_CERTS=/);
  });
});
