import { describe, expect, it } from 'vitest';
import { adapterFor, failure, fetchOf, secret } from '../../../test/support/providers/model-calls.js';
import type { ModelServerScript } from '../../../test/support/providers/model-server.js';
import type { JsonObject } from '../json.js';
import { cohereEmbedder } from './cohere.js';
import type { Embedder } from './embedder.js';
import { geminiEmbedder } from './gemini.js';
import { openAIEmbedder } from './openai.js';
import type { EmbedderOptions } from './provider-embedder.js';
import { voyageEmbedder } from './voyage.js';

type Make = (options: EmbedderOptions) => Embedder;

async function embedderFor(make: Make, script: ModelServerScript, options: Partial<EmbedderOptions> = {}) {
  return adapterFor(script, (connection) =>
    make({ id: 'm', provider: 'Test', dimensions: 2, ...connection, ...options }),
  );
}

/** An embedder that gets this answer, whatever it asks. */
const answered = (make: Make, body: unknown) =>
  make({ id: 'm', provider: 'Test', apiKey: secret, dimensions: 2, fetch: fetchOf(() => ({ body })).fetch });

const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
const listed = (...embeddings: unknown[]) => ({
  data: embeddings.map((embedding, index) => ({ index, embedding })),
  usage: { prompt_tokens: 3, total_tokens: 3 },
});
const cohereAnswer = (...float: unknown[]) => ({
  embeddings: { float },
  meta: { billed_units: { input_tokens: 3 } },
});
const geminiAnswer = (...vectors: unknown[]) => ({
  embeddings: vectors.map((values) => ({ values })),
  usageMetadata: { promptTokenCount: 3 },
});
const geminiRequest = (text: string, taskType: string) => ({
  model: 'models/gemini-embedding-001',
  content: { parts: [{ text }] },
  taskType,
  outputDimensionality: 2,
});

interface Format {
  readonly make: Make;
  readonly id: string;
  readonly path: string;
  /** The header that holds the key. */
  readonly header: string;
  readonly query: JsonObject;
  readonly document: JsonObject;
  readonly answer: (...vectors: unknown[]) => object;
}

const formats: Readonly<Record<string, Format>> = {
  openAIEmbedder: {
    make: openAIEmbedder,
    id: 'text-embedding-3-small',
    path: '/v1/embeddings',
    header: 'authorization',
    query: { model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 2 },
    document: { model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 2 },
    answer: listed,
  },
  voyageEmbedder: {
    make: voyageEmbedder,
    id: 'voyage-4',
    path: '/v1/embeddings',
    header: 'authorization',
    query: { model: 'voyage-4', input: ['a', 'b'], input_type: 'query', output_dimension: 2 },
    document: { model: 'voyage-4', input: ['a', 'b'], input_type: 'document', output_dimension: 2 },
    answer: listed,
  },
  cohereEmbedder: {
    make: cohereEmbedder,
    id: 'embed-v4.0',
    path: '/v1/embed',
    header: 'authorization',
    query: {
      model: 'embed-v4.0',
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 2,
    },
    document: {
      model: 'embed-v4.0',
      texts: ['a', 'b'],
      input_type: 'search_document',
      embedding_types: ['float'],
      output_dimension: 2,
    },
    answer: cohereAnswer,
  },
  geminiEmbedder: {
    make: geminiEmbedder,
    id: 'gemini-embedding-001',
    path: '/v1/models/gemini-embedding-001:batchEmbedContents',
    header: 'x-goog-api-key',
    query: { requests: [geminiRequest('a', 'RETRIEVAL_QUERY'), geminiRequest('b', 'RETRIEVAL_QUERY')] },
    document: {
      requests: [geminiRequest('a', 'RETRIEVAL_DOCUMENT'), geminiRequest('b', 'RETRIEVAL_DOCUMENT')],
    },
    answer: geminiAnswer,
  },
};

describe.each(Object.entries(formats))('%s', (_, { make, id, path, header, answer, ...bodies }) => {
  it('asks in the format of the provider and returns vectors of the length 1 with their usage', async () => {
    const script = [{ body: answer([3, 4], [0, -2]) }, { body: answer([1, 0], [1, 0]) }];
    const { model, server } = await embedderFor(make, script, { id });
    expect(model).toMatchObject({ id, provider: 'Test', dimensions: 2 });
    await expect(model.embed(['a', 'b'], { purpose: 'query' })).resolves.toEqual({
      vectors: [Float32Array.of(0.6, 0.8), Float32Array.of(0, -1)],
      usage: { inputTokens: 3, outputTokens: 0, totalTokens: 3 },
    });
    await model.embed(['a', 'b']);
    expect(server.requests.map(({ body }) => body)).toEqual([bodies.query, bodies.document]);
    expect(server.requests[0]?.path).toBe(path);
    expect(server.requests[0]?.headers[header]).toMatch(new RegExp(`^(Bearer )?${secret}$`));
  });

  it.each([
    ['no JSON', 'plain words', 'something that is not JSON: plain words'],
    ['a list', [1], 'something that is not an object: [1]'],
    ['nothing of its own', { hello: 1 }, /an answer without data|no list of vectors/],
    [
      'names of prototypes',
      { data: 'x', embeddings: { __proto__: 1, constructor: 1 } },
      /an answer without data|no list of vectors/,
    ],
    ['too few vectors', answer([1, 0]), /1 vectors for 2 texts|no vector for one of the texts/],
    ['too many vectors', answer([1, 0], [1, 0], [1, 0]), /3 vectors for 2 texts|index is 2, of 2 in all/],
    ['no vector', answer([1, 0], null), 'no vector for one of the texts'],
    ['words for numbers', answer([1, 0], ['1', 0]), 'a vector with a value that is not a number'],
    ['numbers out of bounds', answer([1, 0], [1e308, 1e308]), 'a value that is not a finite number'],
    ['zeros', answer([1, 0], [0, 0]), 'a vector of zeros'],
    ['other dimensions', answer([1, 0], [1, 0, 0]), '3 numbers where 2 were expected. Set dimensions to 3'],
  ])('reports an answer that holds %s', async (_what, body, message) => {
    const error = await failure(answered(make, body).embed(['a', 'b']));
    expect(error).toMatchObject({ kind: 'protocol', provider: 'Test', retryable: false });
    expect(error.message).toMatch(/^Test sent /);
    expect(error.message).toMatch(message);
  });
});

describe('lists with an index', () => {
  it('are put into the order of the texts', async () => {
    const data = [
      { index: 1, embedding: [0, 1] },
      { index: 0, embedding: [1, 0] },
    ];
    const { vectors, usage } = await answered(openAIEmbedder, { data }).embed(['a', 'b']);
    expect(vectors).toEqual([Float32Array.of(1, 0), Float32Array.of(0, 1)]);
    expect(usage.totalTokens).toBe(0);
  });

  it.each([
    ['everywhere', [{ embedding: [1, 0] }, { embedding: [0, 1] }]],
    ['for the first text', [{ embedding: [1, 0] }, { index: 1, embedding: [0, 1] }]],
  ])('may leave it out %s', async (_where, data) => {
    const { vectors } = await answered(openAIEmbedder, { data }).embed(['a', 'b']);
    expect(vectors).toEqual([Float32Array.of(1, 0), Float32Array.of(0, 1)]);
  });

  it('are rejected when an entry without an index is not in its place', async () => {
    const data = [{ index: 1, embedding: [0, 1] }, { embedding: [1, 0] }];
    const { message } = await failure(answered(openAIEmbedder, { data }).embed(['a', 'b']));
    expect(message).toContain('two entries of data whose index is 1');
  });

  it.each([[-1], [0.5], ['0'], ['length'], [null]])('are rejected with the index %j', async (index) => {
    const data = [{ index, embedding: [1, 0] }];
    const model = answered(openAIEmbedder, { data });
    expect((await failure(model.embed(['a']))).message).toContain('an entry of data whose index is');
  });

  it('are rejected with the same index twice', async () => {
    const entry = { index: 0, embedding: [1, 0] };
    const embedder = answered(openAIEmbedder, { data: [entry, entry] });
    expect((await failure(embedder.embed(['a', 'b']))).message).toContain(
      'two entries of data whose index is 0',
    );
  });
});

describe('base64', () => {
  it('is read wherever it arrives, and requested from OpenAI itself', async () => {
    const { fetch, bodies } = fetchOf(() => ({ body: listed(base64(3, 4)) }));
    for (const baseUrl of [undefined, 'https://eu.api.openai.com/v1', 'http://127.0.0.1:9/v1']) {
      const embedder = openAIEmbedder({ id: 'm', apiKey: secret, fetch, baseUrl });
      expect((await embedder.embed(['a'])).vectors).toEqual([Float32Array.of(0.6, 0.8)]);
    }
    expect(bodies.map(({ encoding_format }) => encoding_format)).toEqual(['base64', 'base64', undefined]);
  });

  it.each([
    ['a cut number', base64(1, 0).slice(0, 8)],
    ['other characters', '!!!!!!!!'],
    ['another character among them', `!${base64(1, 0)}`],
    ['NaN', base64(Number.NaN, 1)],
    ['nothing', ''],
  ])('is rejected with %s', async (_, embedding) => {
    const model = answered(openAIEmbedder, listed(embedding));
    expect((await failure(model.embed(['a']))).message).toMatch(/^Test sent a vector (that|with|of)/);
  });
});

it('requests dimensions from Mistral under its own name for them', async () => {
  const { fetch, bodies } = fetchOf(() => ({ body: listed([1, 0]) }));
  const baseUrl = 'https://api.mistral.ai/v1';
  await openAIEmbedder({ id: 'codestral-embed', apiKey: secret, baseUrl, dimensions: 2, fetch }).embed(['a']);
  expect(bodies).toEqual([{ model: 'codestral-embed', input: ['a'], output_dimension: 2 }]);
});

it('puts the purpose into the text for newer models of Google', async () => {
  const { fetch, bodies } = fetchOf(() => ({ body: geminiAnswer([1, 0]) }));
  const model = geminiEmbedder({
    fetch,
    apiKey: secret,
    dimensions: 2,
    id: 'gemini-embedding-2',
    parameters: { autoTruncate: false },
  });
  await model.embed(['a'], { purpose: 'query' });
  await model.embed(['a']);
  expect(bodies.map(({ requests }) => requests[0])).toEqual(
    ['task: search result | query: a', 'title: none | text: a'].map((text) => ({
      model: 'models/gemini-embedding-2',
      content: { parts: [{ text }] },
      outputDimensionality: 2,
      autoTruncate: false,
    })),
  );
});

it('sends prefixes, parameters and headers that it was given', async () => {
  const { model, server } = await embedderFor(openAIEmbedder, () => ({ body: listed([1, 0]) }), {
    prefixes: { query: 'search_query: ', document: 'search_document: ' },
    parameters: { user: 'u1' },
    headers: { 'api-key': 'azure' },
  });
  await model.embed(['a'], { purpose: 'query' });
  await model.embed(['a']);
  expect(server.requests.map(({ body }) => [body.input[0], body.user])).toEqual([
    ['search_query: a', 'u1'],
    ['search_document: a', 'u1'],
  ]);
  expect(server.requests[0]?.headers['api-key']).toBe('azure');
});

it('needs a key for the provider itself and says which', async () => {
  for (const [make, variable] of [
    [openAIEmbedder, 'OPENAI_API_KEY'],
    [geminiEmbedder, 'GEMINI_API_KEY or GOOGLE_API_KEY'],
    [voyageEmbedder, 'VOYAGE_API_KEY'],
    [cohereEmbedder, 'COHERE_API_KEY'],
  ] as const) {
    const error = await failure(make({ id: 'm' }).embed(['a']));
    expect(error).toMatchObject({ kind: 'configuration' });
    expect(error.message).toContain(`needs a key. Set ${variable}, or give apiKey.`);
  }
});
