import { describe, expect, it } from 'vitest';
import {
  block,
  delta,
  end,
  id,
  modelFor,
  sent,
  start,
  stop,
  text,
  whole,
} from '../../../../test/support/providers/anthropic-wire.js';
import {
  ask,
  collect,
  cutAnywhere,
  failure,
  joined,
  kept,
  message,
  open,
  secret,
} from '../../../../test/support/providers/model-calls.js';
import { namedEvents } from '../../../../test/support/providers/model-server.js';
import { anthropic } from './anthropic.js';

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
  });

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

  it('continues without signatures that are refused', async () => {
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
    ['max_tokens', 'length', undefined],
    ['model_context_window_exceeded', 'length', undefined],
    ['refusal', 'refusal', undefined],
    ['stop_sequence', 'stop', undefined],
    ['end_turn', 'stop', undefined],
    ['tired', 'other', 'tired'],
  ])('ends with %s as %s', async (reason, finishReason, finishMessage) => {
    const raw = namedEvents([start, block(0, text('x')), stop(0), ...end(reason)]);
    const { model } = await modelFor([{ raw, ending: 'end' }]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response).toMatchObject({ content: 'x', finishReason });
    expect(response.finishMessage).toBe(finishMessage);
  });

  it.each([
    [
      'an explanation',
      { category: 'cyber', explanation: 'I cannot help with that.' },
      [],
      'I cannot help with that.',
    ],
    ['an explanation after text', { explanation: 'Not that.' }, [text('So far.')], 'So far.'],
    ['a category', { category: 'cyber', explanation: null }, [], ''],
  ])(
    'says with %s why an answer was refused, and makes none of its calls',
    async (_, details, content, shown) => {
      const call = { type: 'tool_use', id: 'a', name: 'add', input: {} };
      const stop_details = { type: 'refusal', ...details };
      const { model } = await modelFor([
        { body: whole([...content, call], { stop_reason: 'refusal', stop_details }) },
      ]);
      expect(await model.generate(ask(), open())).toMatchObject({
        content: shown,
        toolCalls: [],
        finishReason: 'refusal',
        finishMessage: details.explanation ?? 'cyber',
      });
    },
  );

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

  it('needs only message_stop, even if the connection stays open', async () => {
    const { model } = await modelFor([
      { raw: namedEvents([start, block(0, text('x')), ...end('end_turn')]), ending: 'stall' },
    ]);
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('x');
  });

  it('fails when it ends early', async () => {
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

  it('is not called until its limits are reset', async () => {
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
