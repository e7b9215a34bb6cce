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
} from '../../../../test/support/providers/model-calls.js';
import { type ModelServerScript, namedEvents } from '../../../../test/support/providers/model-server.js';
import type { Media } from '../../media/media.js';
import type { ModelRequest } from '../model.js';
import { type OpenAIResponsesOptions, openAIResponses } from './openai-responses.js';

const id = 'gpt-5-mini';
const modelFor = (script: ModelServerScript, options: Partial<OpenAIResponsesOptions> = {}) =>
  adapterFor(script, (connection) => openAIResponses({ id, ...connection, ...options }));

const usage = {
  input_tokens: 50,
  input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 70,
};
const response = (rest: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [],
  usage,
  ...rest,
});
const answered = (words: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: words, annotations: [] }],
});

async function sent(request: Partial<ModelRequest>, options: Partial<OpenAIResponsesOptions> = {}) {
  const { model, server } = await modelFor([{ body: response({ output: [answered('ok')] }) }], options);
  await model.generate(ask(request), open());
  return server.requests[0]?.body;
}

let number = 0;
const event = (type: string, rest: object) => ({ type, sequence_number: ++number, ...rest });
const item = (when: 'added' | 'done', output_index: number, wire: object) =>
  event(`response.output_item.${when}`, { output_index, item: wire });
const reasoning = { id: 'rs_1', type: 'reasoning', summary: [] };
const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '' };
const second = { ...call, id: 'fc_2', call_id: 'call_2', name: 'now' };
const summary = (delta: string, summary_index: number) =>
  event('response.reasoning_summary_text.delta', { item_id: 'rs_1', output_index: 0, summary_index, delta });
const words = (delta: string) =>
  event('response.output_text.delta', { item_id: 'msg_1', output_index: 1, content_index: 0, delta });
const typed = (output_index: number, delta: string) =>
  event('response.function_call_arguments.delta', { item_id: 'fc', output_index, delta });

const events = [
  event('response.created', { response: response({ status: 'in_progress', usage: null }) }),
  item('added', 0, reasoning),
  event('response.reasoning_summary_part.added', { output_index: 0, summary_index: 0 }),
  summary('**First** ', 0),
  summary('thought', 0),
  event('response.reasoning_summary_part.added', { output_index: 0, summary_index: 1 }),
  summary('Second', 1),
  item('done', 0, { ...reasoning, encrypted_content: 'gAAAA==' }),
  item('added', 1, { ...answered(''), phase: 'commentary' }),
  words('Grüße, '),
  words('世界 🌍'),
  item('done', 1, { ...answered('Grüße, 世界 🌍'), phase: 'commentary' }),
  item('added', 2, call),
  item('added', 3, second),
  typed(3, '{}'),
  typed(2, '{"city":'),
  typed(2, '"Paris"}'),
  item('done', 2, { ...call, arguments: '{"city":"Paris"}' }),
  item('done', 3, { ...second, arguments: '{}' }),
  event('response.completed', { response: response() }),
];
const thoughts = '**First** thought\n\nSecond';

describe('a stream of the Responses API', () => {
  it('yields the summary and the text, then the whole with its calls', async () => {
    const { model, server } = await modelFor([{ raw: namedEvents(events), ending: 'stall' }]);
    const { deltas, response: answer } = await collect(model.stream(ask(), open()));
    expect(joined(deltas)).toEqual([
      ['reasoning', thoughts],
      ['text', 'Grüße, 世界 🌍'],
    ]);
    expect(answer).toMatchObject({
      content: 'Grüße, 世界 🌍',
      reasoningContent: thoughts,
      toolCalls: [
        { id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
        { id: 'call_2', name: 'now', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: {
        inputTokens: 50,
        outputTokens: 20,
        totalTokens: 70,
        cacheReadTokens: 30,
        cacheWriteTokens: 5,
        reasoningTokens: 8,
      },
    });
    expect(server.requests[0]?.path).toBe('/v1/responses');
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(server.requests[0]?.body).toEqual({
      model: id,
      store: false,
      input: [{ role: 'user', content: 'Hello' }],
      include: ['reasoning.encrypted_content'],
      stream: true,
    });
  });

  it('is the same whichever byte it is cut at, and when every byte arrives alone', async () => {
    const raw = namedEvents(events.filter(({ type }) => type !== 'response.created'));
    const { model } = await modelFor([{ raw, ending: 'end', byteByByte: true }]);
    const { deltas, response: answer } = await collect(model.stream(ask(), open()));
    for (const result of await cutAnywhere(raw, (fetch) => openAIResponses({ id, apiKey: secret, fetch }))) {
      expect(joined(result.deltas)).toEqual(joined(deltas));
      expect(result.response).toEqual(answer);
    }
  });

  it('sends reasoning back in its parts, sealed, before what followed from it', async () => {
    const { model, server } = await modelFor([
      { raw: namedEvents(events), ending: 'end' },
      { body: response({ output: [answered('Sunny')] }) },
    ]);
    const { response: answer } = await collect(model.stream(ask(), open()));
    const messages = [
      message('system', 'Be brief.'),
      message('user', 'Weather?'),
      kept(answer),
      message('tool', 'sun', { toolCallId: 'call_1' }),
      message('tool', 'noon', { toolCallId: 'call_2' }),
    ];
    await model.generate(ask({ messages }), open());
    expect(server.requests[1]?.body.input).toEqual([
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'gAAAA==',
        summary: [
          { type: 'summary_text', text: '**First** thought' },
          { type: 'summary_text', text: 'Second' },
        ],
      },
      { role: 'assistant', content: 'Grüße, 世界 🌍', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
      { type: 'function_call', call_id: 'call_2', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sun' },
      { type: 'function_call_output', call_id: 'call_2', output: 'noon' },
    ]);
  });

  it('does not send back reasoning that is not sealed, or that led to nothing', async () => {
    const open1 = response({ output: [reasoning, answered('a')] });
    const open2 = response({ output: [answered('a'), { ...reasoning, encrypted_content: 'x' }] });
    const { model, server } = await modelFor([
      { body: open1 },
      { body: response() },
      { body: open2 },
      { body: response() },
    ]);
    for (const _ of [1, 2]) {
      const answer = await model.generate(ask(), open());
      await model.generate(ask({ messages: [message('user', 'x'), kept(answer)] }), open());
    }
    for (const index of [1, 3]) {
      expect(server.requests[index]?.body.input.slice(1)).toEqual([{ role: 'assistant', content: 'a' }]);
    }
  });

  it('continues without reasoning that the server can no longer read', async () => {
    const refusal = {
      error: {
        message: 'The encrypted content for item rs_1 could not be verified.',
        type: 'invalid_request_error',
        code: 'invalid_encrypted_content',
      },
    };
    const { model, server } = await modelFor([
      { raw: namedEvents(events), ending: 'end' },
      { status: 400, body: refusal },
      { body: response({ output: [answered('ok')] }) },
    ]);
    const { response: answer } = await collect(model.stream(ask(), open()));
    const again = await model.generate(ask({ messages: [message('user', 'x'), kept(answer)] }), open());
    expect(again.content).toBe('ok');
    expect(JSON.stringify(server.requests[1]?.body)).toContain('gAAAA==');
    expect(JSON.stringify(server.requests[2]?.body)).not.toContain('gAAAA==');
  });

  it('takes whole items where a server sends no deltas', async () => {
    const { model } = await modelFor([
      {
        raw: namedEvents([
          item('done', 0, {
            ...reasoning,
            summary: [
              { type: 'summary_text', text: 'A' },
              { type: 'summary_text', text: 'B' },
            ],
          }),
          item('done', 1, answered('all at once')),
          event('response.completed', { response: response() }),
        ]),
        ending: 'end',
      },
      {
        raw: namedEvents([
          event('response.completed', { response: response({ output: [answered('late')] }) }),
        ]),
        ending: 'end',
      },
    ]);
    const { deltas } = await collect(model.stream(ask(), open()));
    expect(joined(deltas)).toEqual([
      ['reasoning', 'A\n\nB'],
      ['text', 'all at once'],
    ]);
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('late');
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ])('is incomplete because of %s', async (reason, expected) => {
    const incomplete = response({ status: 'incomplete', incomplete_details: { reason } });
    const { model } = await modelFor([
      {
        raw: namedEvents([words('x'), event('response.incomplete', { response: incomplete })]),
        ending: 'end',
      },
    ]);
    expect((await collect(model.stream(ask(), open()))).response).toMatchObject({
      content: 'x',
      finishReason: expected,
      finishMessage: reason,
    });
  });

  it('shows a refusal as the answer', async () => {
    const refusal = event('response.refusal.delta', { output_index: 0, delta: 'I will not.' });
    const { model } = await modelFor([
      { raw: namedEvents([refusal, event('response.completed', { response: response() })]), ending: 'end' },
    ]);
    expect((await collect(model.stream(ask(), open()))).response).toMatchObject({
      content: 'I will not.',
      finishReason: 'refusal',
      finishMessage: 'I will not.',
    });
  });
});

describe('the errors of the Responses API', () => {
  const failed = (error: object) =>
    event('response.failed', { response: response({ status: 'failed', error }) });
  const ok = { raw: namedEvents(events), ending: 'end' } as const;

  it('are retried inside a stream of which nothing was shown', async () => {
    const { model, server } = await modelFor(
      [
        { raw: namedEvents([failed({ code: 'server_error', message: 'Oops' })]), ending: 'end' },
        {
          raw: namedEvents([event('error', { code: 'rate_limit_exceeded', message: 'Slow' })]),
          ending: 'end',
        },
        {
          raw: 'data: {"type":"error","error":{"type":"server_error","message":"Overloaded"}}\n\n',
          ending: 'end',
        },
        ok,
      ],
      { retries: 3 },
    );
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('Grüße, 世界 🌍');
    expect(server.requests).toHaveLength(4);
  });

  it('are reported when another try makes no sense', async () => {
    const { model, server } = await modelFor([
      { raw: namedEvents([failed({ code: 'invalid_prompt', message: `No ${secret}` })]), ending: 'end' },
      { status: 429, headers: { 'x-should-retry': 'false' }, body: { error: { message: 'Not now' } } },
    ]);
    const error = await failure(collect(model.stream(ask(), open())));
    expect(error).toMatchObject({ message: 'OpenAI reported an error: No ***', retryable: false });
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({ retryable: false });
    expect(server.requests).toHaveLength(2);
  });

  it('wait for the limit that is used up', async () => {
    const headers = {
      'x-ratelimit-remaining-requests': '10',
      'x-ratelimit-reset-requests': '1h0m0s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '12.5s',
    };
    const { model, waits } = await modelFor([{ status: 429, headers, body: {} }, ok]);
    await collect(model.stream(ask(), open()));
    expect(waits).toEqual([12_500]);
  });
});

describe('the request to the Responses API', () => {
  it('carries tools, the choice among them, the shape of the answer and parameters', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const body = await sent(
      {
        tools: [{ name: 'add', description: 'Adds', inputSchema: schema }],
        toolChoice: { name: 'add' },
        output: { name: 'My answer', schema, strict: true },
        // those of one call over those of the model
        parameters: { max_output_tokens: 5, reasoning: { effort: 'high' } },
      },
      {
        maxTokens: 9,
        reasoning: { effort: 'low', summary: 'auto' },
        parameters: { text: { verbosity: 'low' }, tools: [{ type: 'web_search' }], service_tier: 'flex' },
      },
    );
    expect(body).toMatchObject({
      max_output_tokens: 5,
      reasoning: { effort: 'high' },
      service_tier: 'flex',
      tools: [
        { type: 'web_search' },
        { type: 'function', name: 'add', description: 'Adds', parameters: schema, strict: false },
      ],
      tool_choice: { type: 'function', name: 'add' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'My_answer', schema, strict: false } },
    });
  });

  it('asks only models that reason for their reasoning', async () => {
    for (const name of ['o3', 'gpt-5', 'gpt-6.1-terra', 'ft:gpt-5-mini:me']) {
      expect((await sent({}, { id: name })).include).toEqual(['reasoning.encrypted_content']);
    }
    for (const name of ['gpt-4o', 'gpt-4.1-mini', 'gpt-5-chat-latest']) {
      expect((await sent({}, { id: name })).include).toBeUndefined();
    }
    expect((await sent({}, { reasoning: false })).include).toBeUndefined();
  });

  it('carries images, audio and documents, also as results of tools', async () => {
    const media: Media[] = [
      { kind: 'image', id: '1', url: 'https://example.com/a.png', details: { detail: 'low' } },
      { kind: 'audio', id: '2', hash: 'wav', mimeType: 'audio/mpeg' },
      { kind: 'file', id: '3', hash: 'pdf', filename: 'paper.pdf' },
      { kind: 'file', id: '4', url: 'https://example.com/b.pdf' },
      { kind: 'file', id: '5', hash: 'notes', mimeType: 'text/plain' },
    ];
    const toolCalls = [{ id: 'a', name: 'draw', arguments: '{' }];
    const { input } = await sent({
      messages: [
        message('user', 'Look', { media }),
        message('assistant', '', { toolCalls }),
        message('tool', 'drawn', { toolCallId: 'a', media: media.slice(0, 1) }),
      ],
      media: mediaOf({ wav: 'W', pdf: '%PDF-', notes: 'some notes' }),
    });
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const picture = { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' };
    expect(input[0].content).toEqual([
      { type: 'input_text', text: 'Look' },
      picture,
      { type: 'input_audio', input_audio: { data: base64('W'), format: 'mp3' } },
      {
        type: 'input_file',
        filename: 'paper.pdf',
        file_data: `data:application/pdf;base64,${base64('%PDF-')}`,
      },
      { type: 'input_file', file_url: 'https://example.com/b.pdf' },
      { type: 'input_text', text: 'File 5:\nsome notes' },
    ]);
    expect(input.slice(1)).toEqual([
      { type: 'function_call', call_id: 'a', name: 'draw', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [{ type: 'input_text', text: 'drawn' }, picture],
      },
    ]);
  });
});
