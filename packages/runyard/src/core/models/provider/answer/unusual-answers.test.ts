import { describe, expect, it } from 'vitest';
import { ask, collect, failure, fetchOf, open } from '../../../../../test/support/providers/model-calls.js';
import { namedEvents, plainEvents } from '../../../../../test/support/providers/model-server.js';
import { anthropic } from '../../anthropic/anthropic.js';
import { gemini } from '../../gemini/gemini.js';
import type { Model, ModelResponse } from '../../model.js';
import { openAICompatible } from '../../openai-compatible/openai-compatible.js';
import { openAIResponses } from '../../openai-responses/openai-responses.js';

type Wire = Record<string, unknown>;

const makers = { chat: openAICompatible, responses: openAIResponses, gemini, anthropic };

function modelOf(kind: keyof typeof makers, body: unknown): Model {
  const { fetch } = fetchOf(() => ({ body }));
  return makers[kind]({ id: 'm', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'key', fetch, retries: 0 });
}

/** What an adapter makes of a stream, after a check that its deltas say the same as the whole. */
async function streamed(kind: keyof typeof makers, raw: string): Promise<ModelResponse> {
  const { deltas, response } = await collect(modelOf(kind, raw).stream(ask(), open()));
  const said = (type: string) =>
    deltas.map((chunk) => (chunk.type === type && 'text' in chunk ? chunk.text : ''));
  expect(said('text').join('')).toBe(response.content);
  expect(said('reasoning').join('')).toBe(response.reasoningContent ?? '');
  return response;
}

const chat = (delta: Wire, choice: Wire = {}) => ({ choices: [{ index: 0, delta, ...choice }] });
const called = (...tool_calls: Wire[]) => chat({ tool_calls });
const stop = (reason = 'stop') => chat({}, { finish_reason: reason });
const done = 'data: [DONE]\n\n';
const calls = (response: ModelResponse) => response.toolCalls.map((call) => [call.name, call.arguments]);

it.each(['chat', 'gemini'] as const)(
  '%s: an error outside of an event is the error of the call',
  async (kind) => {
    const raw = `: hi\n\n${JSON.stringify({ error: { code: 400, message: 'too long' } }, undefined, 2)}\n`;
    const error = await failure(collect(modelOf(kind, raw).stream(ask(), open())));
    expect(error).toMatchObject({ status: 400, retryable: false });
    expect(error.message).toContain('too long');
  },
);

describe('a chat completion', () => {
  it.each([
    [
      'an error in place of a chunk',
      plainEvents([{ object: 'error', message: 'too long', code: 400 }]) + done,
      'too long',
    ],
    ['the end and no answer', done, 'before the answer was complete'],
    [
      'counts and no answer',
      plainEvents([{ choices: [], usage: { prompt_tokens: 1 } }]) + done,
      'before the answer',
    ],
  ])('fails for %s', async (_what, raw, says) => {
    const error = await failure(collect(modelOf('chat', raw).stream(ask(), open())));
    expect(error.message).toContain(says);
  });

  it.each([
    [
      'events that hold nothing',
      `${plainEvents([chat({ content: 'a' })])}data:\n\ndata:  \n\n`,
      'data: [DONE] \n\n',
    ],
    ['two choices', plainEvents([chat({ content: 'a' }), chat({ content: 'b' }, { index: 1 })]), done],
    ['chunks without an index', plainEvents([{ choices: [{ delta: { content: 'a' } }] }]), done],
  ])('is read through %s', async (_what, raw, end) => {
    expect(await streamed('chat', raw + end)).toMatchObject({ content: 'a', finishReason: 'stop' });
  });

  it('is read after a byte order mark', async () => {
    const body = `\ufeff${JSON.stringify({ choices: [{ message: { content: 'a' } }] })}`;
    expect((await modelOf('chat', body).generate(ask(), open())).content).toBe('a');
  });

  it.each([
    ['eos', 'stop'],
    ['stop_sequence', 'stop'],
    ['STOP', 'stop'],
    ['max_tokens', 'length'],
    ['sensitive', 'content_filter'],
    ['network_error', 'other'],
  ])('that ends with %s ended for the reason %s', async (word, finishReason) => {
    const response = await streamed('chat', plainEvents([chat({ content: 'a' }), stop(word)]));
    expect(response.finishReason).toBe(finishReason);
  });

  it('makes no call that was cut off, under any name of the limit', async () => {
    const call = { index: 0, id: 'a', function: { name: 'add', arguments: '{"a":' } };
    const response = await streamed('chat', plainEvents([called(call), stop('max_tokens')]));
    expect(response).toMatchObject({ toolCalls: [], finishReason: 'length' });
  });

  it.each([
    [
      'calls distinguished by their names alone',
      [{ function: { name: 'a' } }, { function: { name: 'b' } }],
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    ['arguments that are a list', [{ id: '1', function: { name: 'a', arguments: [1] } }], [['a', '[1]']]],
    [
      'white space after a call',
      [
        { index: 0, id: '1', function: { name: 'a', arguments: '{}' } },
        { index: 0, id: '1', function: { name: 'a', arguments: '\n' } },
      ],
      [['a', '{}\n']],
    ],
  ])('has %s', async (_what, wire, expected) => {
    expect(calls(await streamed('chat', plainEvents([called(...wire), stop('tool_calls')])))).toEqual(
      expected,
    );
  });

  it('refuses in a part of its content', async () => {
    const body = { choices: [{ message: { content: [{ type: 'refusal', refusal: 'No.' }] } }] };
    const response = await modelOf('chat', body).generate(ask(), open());
    expect(response).toMatchObject({ content: 'No.', finishReason: 'refusal' });
  });
});

describe('a response of OpenAI', () => {
  const message = (id: string, content: unknown) => ({ type: 'message', id, role: 'assistant', content });
  const text = (id: string) => message(id, [{ type: 'output_text', text: 'Hello' }]);
  const call = (id: string, args: unknown = '{"a":1}') => ({
    type: 'function_call',
    id,
    call_id: 'c',
    name: 'add',
    arguments: args,
  });
  const thought = { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'Hm' }] };
  const events = (output: Wire[]) => [
    { type: 'response.output_item.added', output_index: 0, item: { ...thought, summary: [] } },
    { type: 'response.reasoning_summary_part.added', output_index: 0, item_id: 'r' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'r', delta: 'Hm' },
    { type: 'response.output_item.done', output_index: 0, item: thought },
    { type: 'response.output_item.added', output_index: 1, item: message('m', []) },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'm', delta: 'Hel' },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'm', delta: 'lo' },
    { type: 'response.output_item.done', output_index: 1, item: text('m') },
    { type: 'response.output_item.added', output_index: 2, item: call('f', '') },
    { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'f', delta: '{"a":1}' },
    { type: 'response.output_item.done', output_index: 2, item: call('f') },
    { type: 'response.completed', response: { status: 'completed', output } },
  ];
  const whole = [thought, text('m'), call('f')];
  const without = (names: string[]) =>
    events(whole).map(
      (event) =>
        Object.fromEntries(Object.entries(event).filter(([name]) => !names.includes(name))) as typeof event,
    );

  it.each([
    ['as documented', events(whole)],
    ['without the places of its items', without(['output_index'])],
    ['without places and ids', without(['output_index', 'item_id'])],
    ['with other ids at its end', events([thought, text('x'), call('y')])],
    ['with other ids at its end, and without its reasoning', events([text('x'), call('y')])],
    ['with nothing at its end', events([])],
  ])('is the same %s', async (_what, wire) => {
    const response = await streamed('responses', namedEvents(wire));
    expect(response).toMatchObject({ content: 'Hello', reasoningContent: 'Hm' });
    expect(calls(response)).toEqual([['add', '{"a":1}']]);
  });

  it('is read where a server writes its parts in other forms', async () => {
    const body = { output: [message('m', 'Hello'), call('f', { a: 1 }), call('g', null)] };
    const response = await modelOf('responses', body).generate(ask(), open());
    expect(response.content).toBe('Hello');
    expect(calls(response)).toEqual([
      ['add', '{"a":1}'],
      ['add', ''],
    ]);
  });
});

describe('an answer of Gemini', () => {
  const chunk = (parts: unknown, candidate: Wire = {}, usageMetadata: Wire = {}) => ({
    candidates: [{ content: { parts }, index: 0, ...candidate }],
    usageMetadata,
  });
  const end = chunk([], { finishReason: 'STOP' }, { promptTokenCount: 3 });

  it('keeps of parts without content only their signature', async () => {
    const parts = [{ text: 'a' }, {}, { thought: true }, { thoughtSignature: 'S' }];
    const { content, providerData } = await streamed('gemini', plainEvents([chunk(parts), end]));
    expect(content).toBe('a');
    expect(providerData?.layout).toMatchObject({
      pieces: [{ text: 1 }, { text: 0, data: { signature: 'S' } }],
    });
  });

  it('counts what only an earlier chunk counted', async () => {
    const counted = chunk(
      [{ text: 'a' }],
      {},
      { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 4 },
    );
    const { usage } = await streamed('gemini', plainEvents([counted, end]));
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 6, totalTokens: 9, reasoningTokens: 4 });
  });

  it('is the first of several candidates', async () => {
    const other = { content: { parts: [{ text: 'b' }] }, index: 1 };
    const both = { candidates: [other, ...chunk([{ text: 'a' }]).candidates] };
    expect((await streamed('gemini', plainEvents([both, { candidates: [other] }, end]))).content).toBe('a');
  });
});

describe('a message of Anthropic', () => {
  const block = (content_block: Wire) => ({ type: 'content_block_start', index: 0, content_block });
  const use = { type: 'tool_use', id: 't', name: 'add', input: { a: 1 } };

  it('has an input once that came at the start and again in deltas', async () => {
    const raw = namedEvents([
      block(use),
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
      } as never,
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } } as never,
    ]);
    expect(calls(await streamed('anthropic', raw))).toEqual([['add', '{"a":1}']]);
  });

  it('is read without its type, and with an input that is a text', async () => {
    const content = [
      { type: 'text', text: 'a' },
      { ...use, input: '{"a":1}' },
    ];
    const response = await modelOf('anthropic', { content, stop_reason: 'tool_use' }).generate(ask(), open());
    expect(response.content).toBe('a');
    expect(calls(response)).toEqual([['add', '{"a":1}']]);
  });
});
