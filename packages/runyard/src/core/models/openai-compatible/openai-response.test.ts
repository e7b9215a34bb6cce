import { describe, expect, it } from 'vitest';
import {
  byByte,
  delta,
  finish,
  mistralThought,
  modelWith,
  read,
  whole,
} from '../../../../test/support/providers/chat-answers.js';
import {
  ask,
  cutAnywhere,
  failure,
  joined,
  mediaOf,
  open,
} from '../../../../test/support/providers/model-calls.js';
import { plainEvents } from '../../../../test/support/providers/model-server.js';
import type { ModelResponse } from '../model.js';

interface Recording {
  readonly says: string;
  /** The chunks of a stream, and the answer to the same question without streaming. */
  readonly events: readonly object[];
  readonly body?: object;
  readonly response: Partial<Record<keyof ModelResponse, unknown>>;
  readonly parameters?: { readonly audio: { readonly format: string } };
}

const perplexity = {
  citations: ['https://a.example/1', 'https://b.example/2'],
  search_results: [{ title: 'A', url: 'https://a.example/1', date: '2026-01-01', snippet: 'words of A' }],
};
const cited = (start: number, end: number) => ({
  type: 'url_citation',
  url_citation: { url: 'https://a.example', title: 'A', start_index: start, end_index: end },
});
const groqResults = [{ title: 'A', url: 'https://a.example', content: 'words of A', score: 0.9 }];
const picture = (data: string, type = 'png') => ({
  type: 'image_url',
  image_url: { url: `data:image/${type};base64,${Buffer.from(data).toString('base64')}` },
});
const linked = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
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
    says: 'Groq: the results of its own searches',
    events: [
      delta({ executed_tools: [{ index: 0, type: 'search', arguments: '{"query":"x"}' }] }),
      delta({ executed_tools: [{ index: 0, search_results: { results: groqResults } }] }),
      delta({ executed_tools: [{ index: 1, search_results: [{ url: 'https://b.example' }] }] }),
      delta({ content: 'Hi' }),
      finish('stop'),
    ],
    response: {
      content: 'Hi',
      citations: {
        sources: [
          { url: 'https://a.example', title: 'A', citedText: 'words of A' },
          { url: 'https://b.example' },
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
      delta({ content: '', images: [picture('one'), picture('two', 'jpeg'), linked] }),
      finish('stop'),
    ],
    body: whole({ content: 'Look', images: [picture('one'), picture('two', 'jpeg'), linked] }),
    response: {
      content: 'Look',
      media: [
        { kind: 'image', hash: 'hash of one', mimeType: 'image/png', size: 3 },
        { kind: 'image', hash: 'hash of two', mimeType: 'image/jpeg', size: 3 },
        { kind: 'image', url: linked.image_url.url },
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

describe('an answer as providers give it', () => {
  it.each(recordings.map((one) => [one.says, one] as const))(
    'of %s',
    async (_, { events, body, response, parameters }) => {
      const answers = [await read(byByte(events, parameters))];
      const model = modelWith(async () => Response.json(body), parameters);
      if (body !== undefined) answers.push(await model.generate(ask({ media: mediaOf({}) }), open()));
      for (const answer of answers) {
        expect(answer).toMatchObject(response);
        expect(answer.citations).toEqual(response.citations);
      }
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
    const error = await failure(read(byByte(events)));
    expect(error).toMatchObject({ status: 502, retryable: true });
    expect(error.message).toContain('gone');
  });

  it('is an error where Groq says why it stopped early', async () => {
    const events = [
      delta({ content: 'Hi' }),
      { choices: [], x_groq: { id: 'req_1', error: 'over capacity' } },
    ];
    const error = await failure(read(byByte(events)));
    expect(error.message).toBe('OpenAI-compatible server reported an error: over capacity');
  });

  it('is an error where it ends with an unexplained one', async () => {
    const error = await failure(read(byByte([delta({ content: 'Hi' }), finish('error')])));
    expect(error.message).toBe('OpenAI-compatible server reported an error: the model stopped with an error');
  });
});
