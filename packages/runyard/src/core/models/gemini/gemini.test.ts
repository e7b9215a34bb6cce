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
import { type ModelServerScript, plainEvents } from '../../../../test/support/providers/model-server.js';
import type { Media } from '../../media/media.js';
import type { ModelRequest } from '../model.js';
import { type GeminiOptions, gemini } from './gemini.js';

const id = 'gemini-3.8-flash';
const modelFor = (script: ModelServerScript, options: Partial<GeminiOptions> = {}) =>
  adapterFor(script, (connection) => gemini({ id, ...connection, ...options }));

const chunk = (parts: object[], rest: object = {}, usageMetadata: object = { promptTokenCount: 8 }) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...rest }],
  usageMetadata,
  modelVersion: id,
  responseId: 'resp-1',
});
const stopped = { finishReason: 'STOP' };
const streamed = (...chunks: object[]) => ({ raw: plainEvents(chunks), ending: 'end' }) as const;

async function sent(request: Partial<ModelRequest>, options: Partial<GeminiOptions> = {}) {
  const { model, server } = await modelFor([{ body: chunk([{ text: 'ok' }], stopped) }], options);
  await model.generate(ask(request), open());
  return server.requests[0]?.body;
}

const usage = {
  promptTokenCount: 20,
  cachedContentTokenCount: 12,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 7,
  totalTokenCount: 32,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 16 },
    { modality: 'AUDIO', tokenCount: 4 },
  ],
};
const turn = [
  chunk([{ text: '**Looking**', thought: true }]),
  chunk([{ text: ' it up', thought: true }]),
  chunk([{ text: 'Grüße, ' }]),
  chunk([{ text: '世界 🌍' }]),
  chunk([
    { functionCall: { name: 'weather', args: { city: 'Paris' }, id: 'fc-1' }, thoughtSignature: 'SIG-A' },
    { functionCall: { name: 'weather', args: { city: 'Rome' } } },
  ]),
  chunk([{ text: '', thoughtSignature: 'SIG-B' }], stopped, usage),
];

describe('a stream of Gemini', () => {
  it('yields thoughts and text, then the whole with its parallel calls', async () => {
    const { model, server } = await modelFor([streamed(...turn)]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(joined(deltas)).toEqual([
      ['reasoning', '**Looking** it up'],
      ['text', 'Grüße, 世界 🌍'],
    ]);
    expect(response).toMatchObject({
      content: 'Grüße, 世界 🌍',
      reasoningContent: '**Looking** it up',
      toolCalls: [
        { id: 'fc-1', name: 'weather', arguments: '{"city":"Paris"}' },
        { id: expect.stringMatching(/^call_/), name: 'weather', arguments: '{"city":"Rome"}' },
      ],
      finishReason: 'tool_calls',
      usage: {
        inputTokens: 20,
        outputTokens: 12,
        totalTokens: 32,
        cacheReadTokens: 12,
        reasoningTokens: 7,
        audioInputTokens: 4,
      },
    });
    const [request] = server.requests;
    expect(request?.path).toBe(`/v1/models/${id}:streamGenerateContent?alt=sse`);
    expect(request?.headers['x-goog-api-key']).toBe(secret);
    expect(request?.body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  });

  it('is the same whichever byte it is cut at, and when every byte arrives alone', async () => {
    const raw = plainEvents(turn.filter((event) => !JSON.stringify(event).includes('Rome')));
    const { model } = await modelFor([{ raw, ending: 'end', byteByByte: true }]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(response.content).toBe('Grüße, 世界 🌍');
    for (const result of await cutAnywhere(raw, (fetch) => gemini({ id, apiKey: secret, fetch }))) {
      expect(joined(result.deltas)).toEqual(joined(deltas));
      expect(result.response).toEqual(response);
    }
  });

  it('sends signatures back where they stood, and only the ids that Google gave', async () => {
    const { model, server } = await modelFor([
      streamed(...turn),
      { body: chunk([{ text: 'Sunny' }], stopped) },
    ]);
    const { response } = await collect(model.stream(ask(), open()));
    const [paris, rome] = response.toolCalls;
    const messages = [
      message('user', 'Weather?'),
      kept(response),
      message('tool', 'sun', { toolCallId: paris?.id, toolName: 'weather' }),
      message('tool', 'no such city', { toolCallId: rome?.id, toolName: 'weather', toolCallError: true }),
    ];
    await model.generate(ask({ messages }), open());
    expect(server.requests[1]?.path).toBe(`/v1/models/${id}:generateContent`);
    expect(server.requests[1]?.body.contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Grüße, 世界 🌍' },
          {
            functionCall: { name: 'weather', args: { city: 'Paris' }, id: 'fc-1' },
            thoughtSignature: 'SIG-A',
          },
          { functionCall: { name: 'weather', args: { city: 'Rome' } } },
          { text: '', thoughtSignature: 'SIG-B' },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { output: 'sun' }, id: 'fc-1' } },
          { functionResponse: { name: 'weather', response: { error: 'no such city' } } },
        ],
      },
    ]);
  });

  it('sends calls of another model as Google requires, from Gemini 3 on', async () => {
    const toolCalls = ['a', 'b'].map((call) => ({ id: call, name: 'add', arguments: '{"x":1}' }));
    const messages = [message('user', 'Go'), message('assistant', '', { toolCalls })];
    const call = { functionCall: { name: 'add', args: { x: 1 } } };
    const [, third] = (await sent({ messages })).contents;
    expect(third.parts).toEqual([{ ...call, thoughtSignature: 'skip_thought_signature_validator' }, call]);
    const [, second] = (await sent({ messages }, { id: 'gemini-2.5-flash' })).contents;
    expect(second.parts).toEqual([call, call]);
  });

  it.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['OTHER', 'other'],
  ])('ends with %s as %s', async (finishReason, expected) => {
    const { model } = await modelFor([streamed(chunk([{ text: 'x' }], { finishReason }))]);
    expect((await collect(model.stream(ask(), open()))).response.finishReason).toBe(expected);
  });

  it('has an end also without any content', async () => {
    const { model } = await modelFor([streamed({ candidates: [{ finishReason: 'STOP', index: 0 }] })]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response).toMatchObject({ content: '', toolCalls: [], finishReason: 'stop' });
  });

  it('reports that the prompt was blocked', async () => {
    const { model } = await modelFor([
      streamed({
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 3 },
      }),
    ]);
    expect((await collect(model.stream(ask(), open()))).response).toMatchObject({
      content: 'The prompt was blocked by Google (PROHIBITED_CONTENT).',
      finishReason: 'content_filter',
    });
  });

  it('is tried again when the model wrote a call that Google could not read', async () => {
    const spoiled = {
      candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(weather())', index: 0 }],
    };
    const { model, server } = await modelFor([streamed(spoiled), streamed(...turn)]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response.toolCalls).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });
});

describe('the errors of Gemini', () => {
  const exhausted = (details: object[]) => ({
    error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'You exceeded your current quota.', details },
  });
  const retryInfo = (retryDelay: string) => ({
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay,
  });
  const ok = streamed(chunk([{ text: 'ok' }], stopped));

  it('are retried after the pause that they name', async () => {
    const { model, waits } = await modelFor([{ status: 429, body: exhausted([retryInfo('13.5s')]) }, ok]);
    await collect(model.stream(ask(), open()));
    expect(waits).toEqual([13_500]);
  });

  it('are not retried when the quota of the day is used up, or the pause is long', async () => {
    const quota = {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
    };
    const { model, server } = await modelFor([
      { status: 429, body: exhausted([quota, retryInfo('2s')]) },
      { status: 429, body: exhausted([retryInfo('58s')]) },
    ]);
    expect(await failure(model.generate(ask(), open()))).toMatchObject({ status: 429, retryable: false });
    expect(await failure(model.generate(ask(), open()))).toMatchObject({ retryAfterMs: 58_000 });
    expect(server.requests).toHaveLength(2);
  });

  it('are found in the list that a stream answers with, and in the middle of a stream', async () => {
    const bad = { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'API key not valid.' } };
    const unavailable = { error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' } };
    const { model, server } = await modelFor([
      { status: 400, body: [bad] },
      { body: [unavailable] },
      ok,
      streamed(chunk([{ text: 'begun' }]), unavailable),
    ]);
    expect((await failure(collect(model.stream(ask(), open())))).message).toBe(
      'Google answered 400: API key not valid.',
    );
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      status: 503,
      retryable: true,
    });
    expect(server.requests).toHaveLength(4);
  });

  it('name an answer that is not in the protocol', async () => {
    const { model } = await modelFor([{ body: { hello: 1 } }]);
    expect((await failure(model.generate(ask(), open()))).message).toBe(
      'Google sent an answer without candidates: {"hello":1}',
    );
  });
});

describe('the request to Gemini', () => {
  const add = {
    name: 'add',
    description: 'Adds',
    inputSchema: { $schema: 'x', type: 'object', properties: { a: { type: 'number' } } },
  };
  const now = { name: 'now', description: 'Tells the time', inputSchema: { type: 'object', properties: {} } };
  const output = {
    name: 'sum',
    schema: { type: 'object', properties: { sum: { type: 'number' } } },
    strict: true,
  };

  it('carries the system prompt, functions, the choice among them and settings', async () => {
    const body = await sent(
      {
        messages: [message('system', 'Be brief.'), message('user', 'Hi')],
        tools: [add, now],
        toolChoice: { name: 'add' },
        // those of one call over those of the model
        parameters: { temperature: 0, maxOutputTokens: 5 },
      },
      {
        maxTokens: 99,
        thinking: { level: 'low' },
        parameters: { temperature: 1, topK: 3 },
        extraBody: { tools: [{ googleSearch: {} }], safetySettings: [] },
      },
    );
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [
        { googleSearch: {} },
        {
          functionDeclarations: [
            {
              name: 'add',
              description: 'Adds',
              parametersJsonSchema: { type: 'object', properties: { a: { type: 'number' } } },
            },
            { name: 'now', description: 'Tells the time' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['add'] } },
      generationConfig: {
        temperature: 0,
        topK: 3,
        maxOutputTokens: 5,
        thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
      },
      safetySettings: [],
    });
  });

  it("joins settings of Google's own about functions with the choice among them", async () => {
    const own = { streamFunctionCallArguments: true, mode: 'AUTO' };
    const toolConfig = { functionCallingConfig: own, retrievalConfig: { languageCode: 'fr' } };
    const { model, server } = await modelFor(
      [{ body: chunk([], stopped) }, streamed(chunk([], stopped)), { body: chunk([], stopped) }],
      { extraBody: { toolConfig } },
    );
    await model.generate(ask({ tools: [add], toolChoice: 'required' }), open());
    await collect(model.stream(ask({ tools: [add], toolChoice: 'required' }), open()));
    await model.generate(ask(), open());
    const { retrievalConfig } = toolConfig;
    expect(server.requests.map(({ body }) => body.toolConfig)).toEqual([
      { functionCallingConfig: { mode: 'ANY' }, retrievalConfig },
      { functionCallingConfig: { mode: 'ANY', streamFunctionCallArguments: true }, retrievalConfig },
      { functionCallingConfig: { mode: 'AUTO' }, retrievalConfig },
    ]);
  });

  it('names the type of a file at a URL, as given or by its name, else the usual one of its kind', async () => {
    const at = (kind: Media['kind'], url: string, rest: Partial<Media> = {}) => ({
      kind,
      id: url,
      url,
      ...rest,
    });
    const media = [
      at('image', 'https://example.com/a.jpg', { mimeType: 'image/webp' }),
      at('image', 'https://example.com/a.JPG?size=1#x'),
      at('file', 'https://example.com/download', { filename: 'notes.md' }),
      at('audio', 'https://example.com/sound', { format: 'mp3' }),
      at('video', 'https://www.youtube.com/watch?v=abc'),
      at('image', 'https://example.com/picture.php'),
      at('file', 'https://example.com/paper'),
      at('file', 'https://generativelanguage.googleapis.com/v1beta/files/abc'),
    ];
    const { contents } = await sent({ messages: [message('user', '', { media })] });
    expect(contents[0].parts.map((part: { fileData: object }) => part.fileData)).toEqual(
      [
        'image/webp',
        'image/jpeg',
        'text/markdown',
        'audio/mpeg',
        'video/mp4',
        'image/png',
        'application/pdf',
        undefined,
      ].map((mimeType, at) => ({ fileUri: media[at]?.url, ...(mimeType && { mimeType }) })),
    );
  });

  it('asks for the shape of the answer, in words where functions prevent a schema', async () => {
    const config = { responseMimeType: 'application/json', responseJsonSchema: output.schema };
    expect((await sent({ output })).generationConfig).toEqual(config);
    expect((await sent({ output, tools: [add] })).generationConfig).toEqual(config);
    const older = await sent({ output, tools: [add] }, { id: 'gemini-2.5-pro' });
    expect(older.generationConfig).toBeUndefined();
    expect(older.systemInstruction.parts[0].text).toContain(JSON.stringify(output.schema));
  });

  it('carries images, audio, documents and what tools returned', async () => {
    const media: Media[] = [
      { kind: 'image', id: '1', hash: 'png' },
      { kind: 'audio', id: '2', hash: 'wav', mimeType: 'audio/mpeg' },
      { kind: 'video', id: '3', url: 'https://example.com/v', mimeType: 'video/mp4' },
      { kind: 'file', id: '4', hash: 'notes', mimeType: 'text/plain', filename: 'notes.txt' },
    ];
    const toolCalls = [{ id: 'a', name: 'draw', arguments: '{}' }];
    const { contents } = await sent({
      messages: [
        message('user', 'Look', { media }),
        message('assistant', '', { toolCalls }),
        message('tool', 'drawn', { toolCallId: 'a', toolName: 'draw', media: media.slice(0, 1) }),
      ],
      media: mediaOf({ png: '\x89PNG', wav: 'W', notes: 'some notes' }),
    });
    const base64 = (words: string) => Buffer.from(words, 'latin1').toString('base64');
    const picture = { inlineData: { mimeType: 'image/png', data: base64('\x89PNG') } };
    expect(contents[0].parts).toEqual([
      picture,
      { inlineData: { mimeType: 'audio/mpeg', data: base64('W') } },
      { fileData: { fileUri: 'https://example.com/v', mimeType: 'video/mp4' } },
      { text: 'File notes.txt:\nsome notes' },
      { text: 'Look' },
    ]);
    expect(contents[2].parts).toEqual([
      { functionResponse: { name: 'draw', response: { output: 'drawn' } } },
      picture,
    ]);
  });
});

it('refuses an id that leads elsewhere, and encodes what an address cannot hold', async () => {
  for (const elsewhere of ['../../x', 'models/..', 'models//x', 'tunedModels/./x'])
    expect(() => gemini({ id: elsewhere, apiKey: 'k' })).toThrow('is not the id of a model');
  const { model, server } = await modelFor([{ body: chunk([{ text: 'ok' }], stopped) }], { id: 'a?b#c' });
  await model.generate(ask({}), open());
  expect(server.requests[0]?.path).toContain('/models/a%3Fb%23c:generateContent');
});
