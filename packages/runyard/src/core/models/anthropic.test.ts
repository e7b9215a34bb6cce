import { describe, expect, it } from 'vitest';
import {
  adapterFor,
  ask,
  collect,
  cutAnywhere,
  failure,
  joined,
  kept,
  mediaOf,
  message,
  open,
  secret,
} from '../../../test/support/model-calls.js';
import { type ModelServerScript, namedEvents } from '../../../test/support/model-server.js';
import type { Media } from '../media.js';
import { type AnthropicOptions, anthropic } from './anthropic.js';
import type { ModelRequest } from './model.js';

const id = 'claude-sonnet-5-5';
const modelFor = (script: ModelServerScript, options: Partial<AnthropicOptions> = {}) =>
  adapterFor(script, (connection) => anthropic({ id, ...connection, ...options }));

const whole = (content: object[], rest: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 5 },
  ...rest,
});
const text = (words: string) => ({ type: 'text', text: words });

/** The body that the server was sent for a request. */
async function sent(request: Partial<ModelRequest>, options: Partial<AnthropicOptions> = {}) {
  const { model, server } = await modelFor([{ body: whole([text('ok')]) }], options);
  await model.generate(ask(request), open());
  return server.requests[0]?.body;
}

const start = {
  type: 'message_start',
  message: whole([], {
    stop_reason: null,
    usage: {
      input_tokens: 7,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      output_tokens: 1,
    },
  }),
};
const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: change });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string, usage: object = { output_tokens: 30 }) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];

const events = [
  start,
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'Let me ' }),
  delta(0, { type: 'thinking_delta', thinking: 'see. ' }),
  delta(0, { type: 'signature_delta', signature: 'SIG' }),
  delta(0, { type: 'signature_delta', signature: 'NED==' }),
  stop(0),
  block(1, { type: 'redacted_thinking', data: 'EncryptedThoughts' }),
  stop(1),
  block(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'Grüße, ' }),
  delta(2, { type: 'text_delta', text: '世界' }),
  delta(2, { type: 'text_delta', text: ' 🌍 "quoted" \\n' }),
  stop(2),
  block(3, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '' }),
  delta(3, { type: 'input_json_delta', partial_json: '{"city": "Par' }),
  delta(3, { type: 'input_json_delta', partial_json: 'is"}' }),
  stop(3),
  block(4, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
  stop(4),
  { type: 'something_new', hello: 1 },
  ...end('tool_use', { output_tokens: 30, output_tokens_details: { thinking_tokens: 12 } }),
];
const said = 'Grüße, 世界 🌍 "quoted" \\n';

describe('a stream of Anthropic', () => {
  it('yields thinking and text, then the whole with its calls', async () => {
    const { model, server } = await modelFor([{ raw: namedEvents(events), ending: 'end' }]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(joined(deltas)).toEqual([
      ['reasoning', 'Let me see. '],
      ['text', said],
    ]);
    expect(response).toMatchObject({
      content: said,
      reasoningContent: 'Let me see. ',
      toolCalls: [
        { id: 'toolu_1', name: 'weather', arguments: '{"city": "Paris"}' },
        { id: 'toolu_2', name: 'now', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: {
        inputTokens: 127,
        outputTokens: 30,
        totalTokens: 157,
        cacheReadTokens: 100,
        cacheWriteTokens: 20,
        reasoningTokens: 12,
      },
    });
    expect(server.requests[0]?.path).toBe('/v1/messages');
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': secret,
      'anthropic-version': '2023-06-01',
    });
    expect(server.requests[0]?.body).toEqual({
      model: id,
      max_tokens: 16_384,
      messages: [{ role: 'user', content: [text('Hello')] }],
      stream: true,
    });
  });

  it('is the same whichever byte it is cut at, and when every byte arrives alone', async () => {
    const raw = namedEvents(events);
    const { model } = await modelFor([{ raw, ending: 'end', byteByByte: true }]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    for (const result of await cutAnywhere(raw, (fetch) => anthropic({ id, apiKey: secret, fetch }))) {
      expect(joined(result.deltas)).toEqual(joined(deltas));
      expect(result.response).toEqual(response);
    }
  }, 120_000);

  it('sends thinking back unchanged, with the results of the calls in one message', async () => {
    const { model, server } = await modelFor([
      { raw: namedEvents(events), ending: 'end' },
      { body: whole([text('Sunny')]) },
    ]);
    const { response } = await collect(model.stream(ask(), open()));
    const messages = [
      message('user', 'Weather?'),
      kept(response),
      message('tool', 'sun', { toolCallId: 'toolu_1', toolName: 'weather' }),
      message('tool', 'no clock', { toolCallId: 'toolu_2', toolName: 'now', toolCallError: true }),
    ];
    await model.generate(ask({ messages }), open());
    expect(server.requests[1]?.body.messages).toEqual([
      { role: 'user', content: [text('Weather?')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Let me see. ', signature: 'SIGNED==' },
          { type: 'redacted_thinking', data: 'EncryptedThoughts' },
          text(said),
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
          { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sun' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no clock', is_error: true },
        ],
      },
    ]);
  });

  it('keeps the text of the thinking once', async () => {
    const { model } = await modelFor([{ raw: namedEvents(events), ending: 'end' }]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(JSON.stringify(response.providerData)).not.toContain('Let me see');
  });

  it('goes on without signatures that are refused', async () => {
    const refusal = {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
    };
    const { model, server, waits } = await modelFor([
      { raw: namedEvents(events), ending: 'end' },
      { status: 400, body: refusal },
      { body: whole([text('Sunny')]) },
    ]);
    const { response } = await collect(model.stream(ask(), open()));
    await model.generate(ask({ messages: [message('user', 'x'), kept(response)] }), open());
    const types = (index: number) =>
      server.requests[index]?.body.messages[1].content.map(({ type }: { type: string }) => type);
    expect(types(1)).toContain('thinking');
    expect(types(2)).toEqual(['text', 'tool_use', 'tool_use']);
    expect(waits).toEqual([]);
  });

  it('does not send one model the signatures of another, or those of a text that was changed', async () => {
    const { model } = await modelFor([{ raw: namedEvents(events), ending: 'end' }]);
    const answer = kept((await collect(model.stream(ask(), open()))).response);
    const other = await sent({ messages: [message('user', 'x'), answer] }, { id: 'claude-opus-5-5' });
    const changed = await sent({ messages: [message('user', 'x'), { ...answer, content: 'Cut.' }] });
    for (const body of [other, changed]) {
      expect(body.messages[1].content.map(({ type }: { type: string }) => type)).toEqual([
        'text',
        'tool_use',
        'tool_use',
      ]);
    }
  });

  it.each([
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'other'],
  ])('ends with %s as %s', async (reason, expected) => {
    const raw = namedEvents([start, block(0, text('x')), stop(0), ...end(reason)]);
    const { model } = await modelFor([{ raw, ending: 'end' }]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response).toMatchObject({ content: 'x', finishReason: expected });
  });

  it('shows why an answer was refused', async () => {
    const { model } = await modelFor([
      {
        body: whole([], {
          stop_reason: 'refusal',
          stop_details: { type: 'refusal', category: 'cyber', explanation: 'I cannot help with that.' },
        }),
      },
    ]);
    expect(await model.generate(ask(), open())).toMatchObject({
      content: 'I cannot help with that.',
      finishReason: 'content_filter',
    });
  });

  it('counts each token once where a proxy repeats counts in the last event', async () => {
    const usage = {
      input_tokens: 7,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      output_tokens: 9,
    };
    const raw = namedEvents([start, block(0, text('x')), ...end('end_turn', usage)]);
    const { model } = await modelFor([{ raw, ending: 'end' }]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response.usage).toMatchObject({ inputTokens: 127, outputTokens: 9, totalTokens: 136 });
  });

  it('needs no more than message_stop, even if the connection stays open', async () => {
    const { model } = await modelFor([
      { raw: namedEvents([start, block(0, text('x')), ...end('end_turn')]), ending: 'stall' },
    ]);
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('x');
  });

  it('fails when it ends before its end', async () => {
    const { model } = await modelFor([{ raw: namedEvents([start, block(0, text('x'))]), ending: 'end' }]);
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      kind: 'connection',
      retryable: true,
    });
  });
});

describe('an overloaded Anthropic', () => {
  const overloaded = {
    type: 'error',
    error: { details: null, type: 'overloaded_error', message: 'Overloaded' },
  };
  const ok = { raw: namedEvents([start, block(0, text('ok')), ...end('end_turn')]), ending: 'end' } as const;

  it('is asked again, whether it says so in the status or in the stream before any text', async () => {
    const { model, server, waits } = await modelFor([
      { status: 529, headers: { 'retry-after': '4' }, body: overloaded },
      { raw: namedEvents([start, overloaded]), ending: 'end' },
      ok,
    ]);
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
    expect(server.requests).toHaveLength(3);
    expect(waits[0]).toBe(4000);
  });

  it('is not asked again once text has been shown', async () => {
    const { model, server } = await modelFor([
      { raw: namedEvents([start, block(0, text('beg')), overloaded]), ending: 'end' },
      ok,
    ]);
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      message: 'Anthropic reported an error: Overloaded',
      status: 529,
      retryable: true,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is left alone until its limits are filled again', async () => {
    const reset = new Date(Date.now() + 20_000).toISOString();
    const { model, waits } = await modelFor([
      {
        status: 429,
        headers: {
          'anthropic-ratelimit-input-tokens-remaining': '0',
          'anthropic-ratelimit-input-tokens-reset': reset,
          'anthropic-ratelimit-requests-remaining': '40',
          'anthropic-ratelimit-requests-reset': new Date(Date.now() + 3_600_000).toISOString(),
        },
        body: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } },
      },
      ok,
    ]);
    await collect(model.stream(ask(), open()));
    expect(waits[0]).toBeGreaterThan(10_000);
    expect(waits[0]).toBeLessThanOrEqual(20_000);
  });
});

describe('the request to Anthropic', () => {
  const add = {
    name: 'add',
    description: 'Adds',
    parameters: { $schema: 'x', type: 'object', properties: { a: { type: 'number' } } },
  };

  it('carries the system prompt, tools, the choice among them and parameters', async () => {
    const body = await sent(
      {
        messages: [message('system', 'Be brief.'), message('user', 'Hi'), message('system', 'Be kind.')],
        tools: [add],
        toolChoice: 'required',
      },
      { maxTokens: 99, effort: 'low', thinking: 'adaptive', parameters: { metadata: { user_id: 'u' } } },
    );
    expect(body).toMatchObject({
      max_tokens: 99,
      system: [text('Be brief.\n\nBe kind.')],
      messages: [{ role: 'user', content: [text('Hi')] }],
      tools: [
        {
          name: 'add',
          description: 'Adds',
          input_schema: { type: 'object', properties: { a: { type: 'number' } } },
        },
      ],
      tool_choice: { type: 'any' },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      metadata: { user_id: 'u' },
    });
    expect(body.tools[0].input_schema.$schema).toBeUndefined();
  });

  it('leaves out empty text, answers calls that were never answered, and writes ids that are accepted', async () => {
    const { messages } = await sent({
      messages: [
        message('tool', 'an answer whose call was cut off', { toolCallId: 'gone' }),
        message('user', 'Go'),
        message('assistant', ' \n', {
          toolCalls: [
            { id: 'functions.add:0', name: 'add', arguments: '{"a": ' },
            { id: 'b', name: 'add', arguments: '[1]' },
          ],
        }),
        message('tool', '', { toolCallId: 'functions.add:0' }),
        message('user', 'And?'),
        message('assistant', ''),
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [text('Go')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'functions_add_0', name: 'add', input: {} },
          { type: 'tool_use', id: 'b', name: 'add', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'functions_add_0' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: 'This call was not carried out.',
            is_error: true,
          },
          text('And?'),
        ],
      },
    ]);
  });

  it('marks the fixed part and the conversation for the cache', async () => {
    const body = await sent(
      { messages: [message('system', 'Long.'), message('user', 'Hi')], tools: [add] },
      { cache: '1h' },
    );
    const mark = { type: 'ephemeral', ttl: '1h' };
    expect(body.system).toEqual([{ ...text('Long.'), cache_control: mark }]);
    expect(body.messages[0].content).toEqual([{ ...text('Hi'), cache_control: mark }]);
    const withoutSystem = await sent({ tools: [add] }, { cache: true });
    expect(withoutSystem.tools[0].cache_control).toEqual({ type: 'ephemeral' });
  });

  it('gives thinking its budget beside the answer, but not in a turn that another model began', async () => {
    const budget = { thinking: { budgetTokens: 4_000 } };
    expect(await sent({}, budget)).toMatchObject({
      max_tokens: 20_384,
      thinking: { type: 'enabled', budget_tokens: 4_000 },
    });
    const toolCalls = [{ id: 'a', name: 'add', arguments: '{}' }];
    const turn = [
      message('user', 'Go'),
      message('assistant', '', { toolCalls }),
      message('tool', '1', { toolCallId: 'a' }),
    ];
    expect((await sent({ messages: turn }, budget)).thinking).toBeUndefined();
    expect((await sent({ messages: [...turn, message('user', 'On')] }, budget)).thinking).toBeDefined();
  });

  it('carries images, PDF documents and texts, also as results of tools', async () => {
    const media: Media[] = [
      { kind: 'image', id: '1', url: 'https://example.com/a.png' },
      { kind: 'image', id: '2', hash: 'jpeg' },
      { kind: 'file', id: '3', hash: 'pdf', filename: 'paper.pdf' },
      { kind: 'file', id: '4', hash: 'notes', mimeType: 'text/markdown', filename: 'notes.md' },
      { kind: 'file', id: '5', url: 'https://example.com/b.pdf' },
    ];
    const contents = mediaOf({ jpeg: '\xff\xd8\xff...', pdf: '%PDF-1.7', notes: 'some notes' });
    const toolCalls = [{ id: 'a', name: 'draw', arguments: '{}' }];
    const { messages } = await sent({
      messages: [
        message('user', 'Look', { media }),
        message('assistant', '', { toolCalls }),
        message('tool', 'drawn', {
          toolCallId: 'a',
          media: [media[0] as Media, { kind: 'audio', id: 'tune', hash: 'x' }],
        }),
      ],
      media: contents,
    });
    const base64 = (words: string) => Buffer.from(words, 'latin1').toString('base64');
    expect(messages[0].content).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/jpeg', data: base64('\xff\xd8\xff...') },
      },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: base64('%PDF-1.7') },
        title: 'paper.pdf',
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'some notes' },
        title: 'notes.md',
      },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' }, title: '5' },
      text('Look'),
    ]);
    expect(messages[2].content[0].content).toEqual([
      text('drawn'),
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      text('(The tool also returned the audio tune, which this model cannot take in.)'),
    ]);
  });

  it('says which medium it does not take', async () => {
    const { model } = await modelFor([]);
    const media: Media[] = [{ kind: 'audio', id: 'x', filename: 'talk.mp3', hash: 'h' }];
    const error = await failure(model.generate(ask({ messages: [message('user', 'x', { media })] }), open()));
    expect(error.message).toBe(
      'Anthropic does not take the audio talk.mp3. It takes images, PDF documents and text.',
    );
  });

  it('says that the key is missing', async () => {
    const before = process.env.ANTHROPIC_API_KEY;
    delete process.env.ANTHROPIC_API_KEY;
    try {
      expect((await failure(anthropic({ id }).generate(ask(), open()))).message).toBe(
        'Anthropic needs a key. Set ANTHROPIC_API_KEY, or give apiKey.',
      );
    } finally {
      if (before !== undefined) process.env.ANTHROPIC_API_KEY = before;
    }
  });
});

describe('structured output of Anthropic', () => {
  const person = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, age: { type: 'integer', minimum: 0 } },
    required: ['name'],
  };
  const output = { name: 'person', schema: person, strict: true };

  it('is enforced by the API in the subset that it knows', async () => {
    expect((await sent({ output }, { effort: 'high' })).output_config).toEqual({
      effort: 'high',
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string', description: '(minLength: 1)' },
            age: { type: 'integer', description: '(minimum: 0)' },
          },
          required: ['name'],
          additionalProperties: false,
        },
      },
    });
  });

  it('is asked for in words where closing the objects would change the schema', async () => {
    const open = { type: 'object', additionalProperties: { type: 'number' } };
    const body = await sent({ output: { ...output, schema: open } });
    expect(body.output_config).toBeUndefined();
    expect(body.system[0].text).toContain(JSON.stringify(open));
  });

  it('is the input of a tool with older models', async () => {
    const events = [
      start,
      block(0, { type: 'tool_use', id: 't', name: 'final_answer', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"name":' }),
      delta(0, { type: 'input_json_delta', partial_json: '"Ada"}' }),
      ...end('tool_use'),
    ];
    const { model, server } = await modelFor([{ raw: namedEvents(events), ending: 'end' }], {
      id: 'claude-sonnet-4-20250514',
    });
    const { deltas, response } = await collect(model.stream(ask({ output }), open()));
    expect(joined(deltas)).toEqual([['text', '{"name":"Ada"}']]);
    expect(response).toMatchObject({ content: '{"name":"Ada"}', toolCalls: [], finishReason: 'stop' });
    expect(server.requests[0]?.body).toMatchObject({
      tools: [{ name: 'final_answer', input_schema: person }],
      tool_choice: { type: 'tool', name: 'final_answer' },
    });
  });

  it('leaves an older model its tools, and does not force one that thinks', async () => {
    const tools = [{ name: 'final_answer', description: '', parameters: { type: 'object' } }];
    const older = { id: 'claude-3-7-sonnet-20250219' };
    const body = await sent({ output, tools }, older);
    expect(body.tool_choice).toEqual({ type: 'any' });
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['final_answer', 'final_answer_']);
    const thinking = await sent({ output }, { ...older, thinking: { budgetTokens: 2_000 } });
    expect(thinking.tools).toBeUndefined();
    expect(thinking.system[0].text).toContain('JSON schema');
  });
});
