import { describe, expect, it } from 'vitest';
import {
  ask,
  collect,
  cutAnywhere,
  failure,
  joined,
  kept,
  mediaOf,
  message,
  modelFor,
  open,
} from '../../../../test/support/model-calls.js';
import { plainEvents } from '../../../../test/support/model-server.js';
import type { Model, ModelResponse } from '../model.js';
import { openAICompatible } from '../openai-compatible.js';

type Wire = Record<string, unknown>;

const delta = (part: Wire, choice: Wire = {}, chunk: Wire = {}) => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, delta: part, finish_reason: null, ...choice }],
  ...chunk,
});
const finish = (reason: string, choice: Wire = {}, chunk: Wire = {}) =>
  delta({}, { finish_reason: reason, ...choice }, chunk);
const whole = (part: Wire, choice: Wire = {}, chunk: Wire = {}) => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { role: 'assistant', ...part }, finish_reason: 'stop', ...choice }],
  ...chunk,
});
const callOf = (id: string, args: unknown, rest: Wire = {}) => ({
  id,
  type: 'function',
  function: { name: 'add', arguments: args },
  ...rest,
});

interface Recording {
  readonly says: string;
  /** The chunks of a stream, and the answer to the same question without streaming. */
  readonly events: readonly object[];
  readonly body?: object;
  readonly response: Partial<Record<keyof ModelResponse, unknown>>;
  readonly parameters?: { readonly audio: { readonly format: string } };
}

const mistralThought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
const perplexity = {
  citations: ['https://a.example/1', 'https://b.example/2'],
  search_results: [{ title: 'A', url: 'https://a.example/1', date: '2026-01-01', snippet: 'words of A' }],
};
const cited = (start: number, end: number) => ({
  type: 'url_citation',
  url_citation: { url: 'https://a.example', title: 'A', start_index: start, end_index: end },
});
const picture = (data: string) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${Buffer.from(data).toString('base64')}` },
});
const plainUsage = { inputTokens: 10, outputTokens: 4, totalTokens: 14 };
const tokens = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

const recordings: readonly Recording[] = [
  {
    says: 'Mistral: thoughts and references as parts of the content',
    events: [
      delta({ role: 'assistant', content: '' }),
      delta({ content: [mistralThought('Let me ')] }),
      delta({ content: [mistralThought('see.')] }),
      delta({ content: 'Bérn' }),
      delta({
        content: [
          { type: 'text', text: ' it is' },
          { type: 'reference', reference_ids: [1, '0'] },
        ],
      }),
      delta({
        content: [
          { type: 'reference', reference_ids: [1] },
          { type: 'text', text: '.' },
        ],
      }),
      finish('stop', {}, { usage: tokens }),
    ],
    body: whole(
      {
        content: [
          mistralThought('Let me see.'),
          { type: 'text', text: 'Bérn it is' },
          { type: 'reference', reference_ids: [1, '0'] },
          { type: 'text', text: '.' },
        ],
      },
      {},
      { usage: tokens },
    ),
    response: {
      content: 'Bérn it is.',
      reasoningContent: 'Let me see.',
      citations: { sources: [{ documentIndex: 1 }, { documentIndex: 0 }] },
      usage: plainUsage,
      finishReason: 'stop',
    },
  },
  {
    says: 'vLLM: the same reasoning under two names, and fields that are empty',
    events: [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning: 'Hm', reasoning_content: 'Hm' }),
      delta({ content: 'Yes', reasoning_content: null, tool_calls: [] }),
      delta({ content: '!', reasoning_content: null, tool_calls: [] }),
      finish('stop'),
    ],
    body: whole({ content: 'Yes!', reasoning: 'Hm', reasoning_content: 'Hm', tool_calls: [] }),
    response: { content: 'Yes!', reasoningContent: 'Hm', toolCalls: [], finishReason: 'stop' },
  },
  {
    says: 'Moonshot: usage in the last choice, with the cached tokens beside',
    events: [delta({ content: 'Hi' }), finish('stop', { usage: { ...tokens, cached_tokens: 8 } })],
    body: whole({ content: 'Hi' }, {}, { usage: { ...tokens, cached_tokens: 8 } }),
    response: { content: 'Hi', usage: { ...plainUsage, cacheReadTokens: 8 } },
  },
  {
    says: 'DeepSeek: cached tokens under a name of their own',
    events: [
      delta({ reasoning_content: 'Hm', content: null }),
      delta({ reasoning_content: null, content: 'Hi' }),
      finish('stop', {}, { usage: { ...tokens, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 } }),
    ],
    response: { content: 'Hi', reasoningContent: 'Hm', usage: { ...plainUsage, cacheReadTokens: 8 } },
  },
  {
    says: 'Groq: usage of its own beside the standard one',
    events: [
      delta({ content: 'Hi' }, {}, { x_groq: { id: 'req_1' } }),
      finish('stop', {}, { x_groq: { id: 'req_1', usage: tokens } }),
      { id: 'chatcmpl-1', choices: [], usage: tokens },
    ],
    response: { content: 'Hi', usage: plainUsage },
  },
  {
    says: 'Perplexity: sources and growing usage in every chunk, reasoning that is counted beside the output',
    events: [
      delta({ content: 'A' }, {}, { ...perplexity, usage: { prompt_tokens: 10, completion_tokens: 1 } }),
      delta({ content: 'B' }, {}, { ...perplexity, usage: { prompt_tokens: 10, completion_tokens: 2 } }),
      finish('stop', {}, { ...perplexity, usage: { ...tokens, reasoning_tokens: 90 } }),
    ],
    body: whole({ content: 'AB' }, {}, { ...perplexity, usage: { ...tokens, reasoning_tokens: 90 } }),
    response: {
      content: 'AB',
      usage: { inputTokens: 10, outputTokens: 94, totalTokens: 104, reasoningTokens: 90 },
      citations: {
        sources: [
          { url: 'https://a.example/1', title: 'A', citedText: 'words of A' },
          { url: 'https://b.example/2' },
        ],
      },
    },
  },
  {
    says: 'OpenAI: annotations, whose places are counted in characters',
    events: [
      delta({ content: '🌍 Hello' }),
      delta({ annotations: [cited(2, 7), cited(0, 0)] }),
      delta({ annotations: [cited(2, 7)] }),
      finish('stop'),
    ],
    body: whole({ content: '🌍 Hello', annotations: [cited(2, 7), cited(0, 0)] }),
    response: {
      content: '🌍 Hello',
      citations: {
        sources: [
          { url: 'https://a.example', title: 'A', start: 3, end: 8 },
          { url: 'https://a.example', title: 'A' },
        ],
      },
    },
  },
  {
    says: 'Azure: the sources of its data',
    events: [
      delta({ role: 'assistant', context: { citations: [{ title: 'A', filepath: 'a.pdf', content: 'x' }] } }),
      delta({ content: 'Hi' }),
      finish('stop'),
    ],
    response: { citations: { sources: [{ title: 'A', filename: 'a.pdf', citedText: 'x' }] } },
  },
  {
    says: 'OpenRouter: pictures, some of them sent twice',
    events: [
      delta({ content: 'Look', images: [picture('one')] }),
      delta({ content: '', images: [picture('one'), picture('two')] }),
      finish('stop'),
    ],
    body: whole({ content: 'Look', images: [picture('one'), picture('two')] }),
    response: {
      content: 'Look',
      media: [
        { kind: 'image', hash: 'hash of one', mimeType: 'image/png', size: 3 },
        { kind: 'image', hash: 'hash of two', mimeType: 'image/png', size: 3 },
      ],
    },
  },
  {
    says: 'OpenAI: sound in pieces, whose transcript is the text',
    parameters: { audio: { format: 'mp3' } },
    events: [
      delta({ role: 'assistant', content: null, audio: { id: 'audio_1', transcript: 'Hel' } }),
      delta({ audio: { data: Buffer.from('1234').toString('base64') } }),
      delta({ audio: { transcript: 'lo', data: Buffer.from('567').toString('base64').slice(0, 2) } }),
      delta({ audio: { data: Buffer.from('567').toString('base64').slice(2) } }),
      delta({ audio: { expires_at: 1_800_000_000 } }),
      finish('stop'),
    ],
    body: whole({
      content: null,
      audio: { id: 'audio_1', data: Buffer.from('1234567').toString('base64'), transcript: 'Hello' },
    }),
    response: {
      content: 'Hello',
      media: [{ kind: 'audio', hash: 'hash of 1234567', mimeType: 'audio/mpeg' }],
    },
  },
  {
    says: 'OpenAI: a refusal',
    events: [
      delta({ role: 'assistant', content: '', refusal: null }),
      delta({ refusal: 'I ' }),
      delta({ refusal: 'won’t.' }),
      finish('stop'),
    ],
    body: whole({ content: null, refusal: 'I won’t.' }),
    response: { content: 'I won’t.', finishReason: 'refusal', finishMessage: 'I won’t.' },
  },
  {
    says: 'OpenAI: a refusal after a text',
    events: [
      delta({ content: 'Well. ' }),
      delta({ refusal: 'No.' }),
      delta({ refusal: ' No!!!' }),
      finish('stop'),
    ],
    body: whole({ content: 'Well. ', refusal: 'No. No!!!' }),
    response: { content: 'Well. ', finishReason: 'refusal', finishMessage: 'No. No!!!' },
  },
  {
    says: 'Azure: the filters that stopped the answer',
    events: [
      { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
      delta(
        { content: 'Take a' },
        { content_filter_results: { hate: { filtered: false, severity: 'safe' } } },
      ),
      finish('content_filter', {
        content_filter_results: {
          hate: { filtered: false, severity: 'safe' },
          violence: { filtered: true, severity: 'medium' },
          protected_material_text: { filtered: true, detected: true },
        },
      }),
    ],
    response: {
      content: 'Take a',
      finishReason: 'content_filter',
      finishMessage: 'violence (medium), protected_material_text',
    },
  },
  {
    says: 'DeepSeek: a reason that only it knows',
    events: [delta({ content: 'Hi' }), finish('insufficient_system_resource')],
    body: whole({ content: 'Hi' }, { finish_reason: 'insufficient_system_resource' }),
    response: { finishReason: 'other', finishMessage: 'insufficient_system_resource' },
  },
  {
    says: 'Mistral: a limit under a name of its own',
    events: [delta({ content: 'Hi' }), finish('model_length')],
    body: whole({ content: 'Hi' }, { finish_reason: 'model_length' }),
    response: { content: 'Hi', finishReason: 'length' },
  },
];

async function read(model: Model) {
  const request = ask({ media: mediaOf({}) });
  const { deltas, response } = await collect(model.stream(request, open()));
  const said = deltas.map((chunk) => (chunk.type === 'text' ? chunk.text : ''));
  expect(said.join('')).toBe(response.content);
  const thought = deltas.map((chunk) => (chunk.type === 'reasoning' ? chunk.text : ''));
  expect(thought.join('')).toBe(response.reasoningContent ?? '');
  return response;
}

/** A model whose answer arrives one byte at a time, so that it is cut in every place. */
function byByte(raw: string, parameters: Recording['parameters']): Model {
  const body = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of Buffer.from(raw)) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
  const headers = { 'content-type': 'text/event-stream' };
  return modelWith(async () => new Response(body(), { headers }), parameters);
}

function modelWith(fetch: typeof globalThis.fetch, parameters: object = {}): Model {
  return openAICompatible({
    id: 'm',
    baseUrl: 'http://127.0.0.1:1/v1',
    fetch,
    parameters: { ...parameters },
  });
}

describe('an answer as providers give it', () => {
  it.each(recordings.map((one) => [one.says, one] as const))(
    'of %s',
    async (_, { events, body, response, parameters }) => {
      expect(await read(byByte(plainEvents(events), parameters))).toMatchObject(response);
      if (body === undefined) return;
      const model = modelWith(async () => Response.json(body), parameters);
      expect(await model.generate(ask({ media: mediaOf({}) }), open())).toMatchObject(response);
    },
  );

  it('is the same wherever its bytes are cut in two', async () => {
    const tool_calls = [{ id: 'a', function: { name: 'add', arguments: '{"a":"ü"}' } }];
    const events = [{ content: [mistralThought('Ü')] }, { content: '🌍\n"' }, { tool_calls }].map((part) => ({
      choices: [{ delta: part }],
    }));
    const results = await cutAnywhere(`${plainEvents(events)}data: [DONE]`, (fetch) => modelWith(fetch));
    for (const { deltas, response } of results) {
      expect(joined(deltas)).toEqual([
        ['reasoning', 'Ü'],
        ['text', '🌍\n"'],
      ]);
      expect(response).toMatchObject({ content: '🌍\n"', toolCalls: [{ arguments: '{"a":"ü"}' }] });
    }
  });

  it.each([
    [
      'in a choice',
      { choices: [{ index: 0, delta: { content: '' }, error: { code: 502, message: 'gone' } }] },
    ],
    ['in its last choice', delta({}, { finish_reason: 'error', error: { code: 502, message: 'gone' } })],
  ])('is an error where it holds one %s', async (_, event) => {
    const events = [delta({ content: 'Hi' }), event];
    const error = await failure(read(byByte(plainEvents(events), undefined)));
    expect(error).toMatchObject({ status: 502, retryable: true });
    expect(error.message).toContain('gone');
  });

  it('is an error where it ends with one that nobody explains', async () => {
    const error = await failure(
      read(byByte(plainEvents([delta({ content: 'Hi' }), finish('error')]), undefined)),
    );
    expect(error.message).toBe('OpenAI-compatible server reported an error: the model stopped with an error');
  });
});

describe('the calls of an answer', () => {
  const streamed = (...fragments: Wire[][]) => [
    ...fragments.map((tool_calls) => delta({ tool_calls })),
    finish('tool_calls'),
  ];
  const cases: readonly (readonly [string, readonly object[], readonly (readonly [string, string])[]])[] = [
    [
      'begin without a name',
      streamed([{ index: 0, id: 'a', function: { arguments: '' } }], [callOf('a', '{"a":1}', { index: 0 })]),
      [['add', '{"a":1}']],
    ],
    [
      'have one id for all',
      streamed([callOf('a', '{"a":1}')], [callOf('a', '{"a":2}')]),
      [
        ['add', '{"a":1}'],
        ['add', '{"a":2}'],
      ],
    ],
    [
      'are sent once more as a whole',
      streamed(
        [callOf('a', '{"a"', { index: 0 })],
        [{ index: 0, function: { arguments: ':1}' } }],
        [callOf('a', '{"a":1}', { index: 0 })],
        [callOf('a', '', { index: 0 })],
      ),
      [['add', '{"a":1}']],
    ],
    [
      'have objects as arguments',
      streamed([callOf('a', { a: 1 }), callOf('b', { a: 2 })]),
      [
        ['add', '{"a":1}'],
        ['add', '{"a":2}'],
      ],
    ],
    [
      'are whole and all alike',
      [
        whole(
          { content: null, tool_calls: [callOf('', ''), callOf('', '')] },
          { finish_reason: 'tool_calls' },
        ),
      ],
      [
        ['add', ''],
        ['add', ''],
      ],
    ],
    [
      'are cut off by the token limit',
      [
        delta({ tool_calls: [callOf('a', '{"a":1}', { index: 0 }), callOf('b', '{"a":', { index: 1 })] }),
        finish('length'),
      ],
      [['add', '{"a":1}']],
    ],
    [
      'are cut off before their arguments',
      [
        delta({ tool_calls: [callOf('a', '', { index: 0 }), callOf('b', '', { index: 1 })] }),
        finish('length'),
      ],
      [['add', '']],
    ],
    [
      'are whole and cut off',
      [whole({ content: null, tool_calls: [callOf('a', '{"a":')] }, { finish_reason: 'length' })],
      [],
    ],
  ];

  it.each(cases)('that %s', async (_, events, calls) => {
    const [first] = events as readonly { choices?: readonly { message?: unknown }[] }[];
    const response = first?.choices?.[0]?.message
      ? await modelWith(async () => Response.json(first)).generate(ask(), open())
      : await read(byByte(plainEvents(events), undefined));
    expect(response.toolCalls.map((call) => [call.name, call.arguments])).toEqual(calls);
    expect(new Set(response.toolCalls.map(({ id }) => id))).not.toContain('');
    const cut =
      response.finishReason === 'length' ? 'The call of add was cut off and is not made.' : undefined;
    expect(response.finishMessage).toBe(cut);
  });
});

describe('what a provider wants to see again', () => {
  /** The assistant's message of the next request, and of one after signatures were refused. */
  async function sentBack(answer: object, rename = false) {
    const refused = { status: 400, body: { error: { message: 'Corrupted thought signature.' } } };
    const last = { body: whole({ content: 'Done' }) };
    const { model, server } = await modelFor([answer, refused, last]);
    const { response } = await collect(model.stream(ask(), open()));
    const first = kept(response);
    const toolCalls = first.toolCalls?.map((call, at) => (rename ? { ...call, id: `own${at}` } : call));
    const messages = [
      message('user', 'Go'),
      { ...first, ...(toolCalls && { toolCalls }) },
      ...(toolCalls ?? []).map(({ id }) => message('tool', '1', { toolCallId: id })),
    ];
    await model.generate(ask({ messages }), open());
    return server.requests.slice(1).map(({ body }) => body.messages[1]);
  }

  it('are the signatures of its calls, also when a call got another id', async () => {
    const signed = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
    const events = [
      delta({ tool_calls: [callOf('a', '{"a":1}', { index: 0, ...signed('S1') })] }),
      delta({ tool_calls: [callOf('b', '{}', { index: 1 })] }),
      finish('tool_calls'),
    ];
    const content = { role: 'assistant', content: null };
    expect(await sentBack({ events })).toEqual([
      { ...content, tool_calls: [callOf('a', '{"a":1}', signed('S1')), callOf('b', '{}')] },
      { ...content, tool_calls: [callOf('a', '{"a":1}'), callOf('b', '{}')] },
    ]);
    const [renamed] = await sentBack({ events }, true);
    expect(renamed.tool_calls).toEqual([callOf('own0', '{"a":1}', signed('S1')), callOf('own1', '{}')]);
  });

  it('are the details of its reasoning, put together from their pieces', async () => {
    const text = (rest: Wire) => ({
      type: 'reasoning.text',
      format: 'anthropic-claude-v1',
      index: 0,
      ...rest,
    });
    const summary = { type: 'reasoning.summary', index: 1, summary: 'In short.' };
    const encrypted = { type: 'reasoning.encrypted', data: 'QUJD', id: 'a', index: 2 };
    const details = [text({ text: 'Let me see.', signature: 'S1' }), summary, encrypted];
    const events = [
      delta({
        content: '',
        reasoning: 'Let me ',
        reasoning_details: [text({ text: 'Let me ', signature: null })],
      }),
      delta({ content: '', reasoning: 'see.', reasoning_details: [text({ text: 'see.' })] }),
      delta({ content: '', reasoning: null, reasoning_details: [text({ signature: 'S1' })] }),
      delta({ content: '', reasoning: 'In short.', reasoning_details: [summary, encrypted] }),
      delta({ content: 'It is 3.' }),
      finish('stop'),
    ];
    const expected = { role: 'assistant', content: 'It is 3.', reasoning_details: details };
    expect((await sentBack({ events }))[0]).toEqual(expected);
    const body = whole({ content: 'It is 3.', reasoning: 'x', reasoning_details: details });
    expect(await sentBack({ body })).toEqual([expected, { role: 'assistant', content: 'It is 3.' }]);
  });

  it('are the thoughts of Mistral, in the form in which they came', async () => {
    const events = [
      delta({ content: [mistralThought('Let me ')] }),
      delta({ content: [mistralThought('see.')] }),
      delta({ content: 'It is 3.' }),
      finish('stop'),
    ];
    expect((await sentBack({ events }))[0]).toEqual({
      role: 'assistant',
      content: [mistralThought('Let me see.'), { type: 'text', text: 'It is 3.' }],
    });
  });
});
