import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, type EmbeddingModelV2, type EmbeddingModelV3 } from '@ai-sdk/provider';
import { expect, expectTypeOf, it } from 'vitest';
import { adapterFor, failure } from '../../../test/support/providers/model-calls.js';
import { aiSdkEmbedder } from './ai-sdk.js';
import type { AiSdkEmbeddingModel } from './ai-sdk-model.js';
import { resolveEmbedder } from './resolve.js';

type Call = Parameters<AiSdkEmbeddingModel['doEmbed']>[0];

function fake(reply: (call: Call, index: number) => unknown, rest: object = {}) {
  const calls: Call[] = [];
  const model = {
    specificationVersion: 'v3',
    provider: 'fake.embedding',
    modelId: 'fake-1',
    maxEmbeddingsPerCall: Promise.resolve(2),
    supportsParallelCalls: Promise.resolve(false),
    async doEmbed(call: Call) {
      const given = reply(call, calls.push(call) - 1);
      if (given instanceof Error) throw given;
      return given as never;
    },
    ...rest,
  };
  return { model, calls };
}

const vectors = ({ values }: Call) => ({
  embeddings: values.map(() => [3, 4]),
  usage: { tokens: values.length },
});
const callError = (statusCode: number, responseBody: string) =>
  new APICallError({ message: 'x', url: 'http://x', requestBodyValues: {}, statusCode, responseBody });

it('takes the models of every version', () => {
  expectTypeOf<EmbeddingModelV2<string>>().toExtend<AiSdkEmbeddingModel>();
  expectTypeOf<EmbeddingModelV3>().toExtend<AiSdkEmbeddingModel>();
});

it('sends as many texts at once as the model takes', async () => {
  const { model, calls } = fake(vectors);
  const providerOptions = { fake: { mode: 'x' } };
  const embedder = aiSdkEmbedder(model, { providerOptions, prefixes: { query: 'q: ' } });
  const { vectors: found, usage } = await embedder.embed(['a', 'b', 'c'], { purpose: 'query' });
  expect(found).toEqual(Array.from({ length: 3 }, () => Float32Array.of(0.6, 0.8)));
  expect(usage.inputTokens).toBe(3);
  expect(calls.map(({ values }) => values)).toEqual([['q: a', 'q: b'], ['q: c']]);
  expect(calls[0]).toMatchObject({ providerOptions, abortSignal: expect.any(AbortSignal) });
});

it.each([[undefined], [Infinity], [Number.NaN], [0]])(
  'has a bound of its own when the model names %s',
  async (most) => {
    const { model, calls } = fake(vectors, { maxEmbeddingsPerCall: most, supportsParallelCalls: true });
    await resolveEmbedder(model).embed(Array.from({ length: 129 }, () => 'a'));
    expect(calls.map(({ values }) => values.length)).toEqual([128, 1]);
  },
);

it.each([
  [false, 1],
  [true, 3],
])(
  'calls a model whose supportsParallelCalls is %s %i times at once',
  async (supportsParallelCalls, most) => {
    let active = 0;
    let seen = 0;
    const doEmbed = async (call: Call) => {
      seen = Math.max(seen, ++active);
      await new Promise(setImmediate);
      active--;
      return vectors(call);
    };
    const { model } = fake(vectors, { maxEmbeddingsPerCall: 1, supportsParallelCalls, doEmbed });
    await aiSdkEmbedder(model).embed(['a', 'b', 'c']);
    expect(seen).toBe(most);
  },
);

it('gives up after its retries', async () => {
  const { model, calls } = fake(() => callError(503, 'busy'));
  const embedder = aiSdkEmbedder(model, { retries: 3, wait: async () => {} });
  expect(await failure(embedder.embed(['a']))).toMatchObject({ status: 503 });
  expect(calls).toHaveLength(4);
});

it('tries again what may succeed later and halves what is too large', async () => {
  const answers = [callError(503, 'busy'), callError(413, 'too large')];
  const waits: number[] = [];
  const { model, calls } = fake((call, index) => answers[index] ?? vectors(call));
  const embedder = aiSdkEmbedder(model, { wait: async (ms) => void waits.push(ms) });
  await embedder.embed(['a', 'b']);
  expect(calls.map(({ values }) => values.length)).toEqual([2, 2, 1, 1]);
  expect(waits).toHaveLength(1);
});

it.each<[unknown, string]>([
  [callError(401, '{"error":{"message":"no key"}}'), 'fake.embedding answered 401: no key'],
  [{ embeddings: [] }, 'fake.embedding sent 0 vectors for 1 texts'],
  [
    { embeddings: [[1, Number.NaN]] },
    'fake.embedding sent a vector with a value that is not a finite number',
  ],
  [{}, 'fake.embedding sent no list of vectors'],
])('reports a failure: %s', async (reply, message) => {
  const { model } = fake(() => reply);
  expect((await failure(aiSdkEmbedder(model, { retries: 0 }).embed(['a']))).message).toBe(message);
});

it('works with a package of the AI SDK', async () => {
  const body = { data: [{ index: 0, embedding: [3, 4] }], usage: { prompt_tokens: 2 } };
  const { model, server } = await adapterFor([{ body }], ({ baseUrl }) =>
    aiSdkEmbedder(createOpenAICompatible({ name: 'sdk', baseURL: baseUrl }).embeddingModel('e')),
  );
  const { vectors: found, usage } = await model.embed(['a']);
  expect([found[0], usage.inputTokens]).toEqual([Float32Array.of(0.6, 0.8), 2]);
  expect(server.requests[0]).toMatchObject({ path: '/v1/embeddings', body: { model: 'e', input: ['a'] } });
});

it('rejects what is not an embedding model', () => {
  expect(() => aiSdkEmbedder({ doGenerate: () => {} } as never)).toThrow(
    'Give an embedding model of the AI SDK',
  );
  expect(() => aiSdkEmbedder(fake(vectors).model, { maxBatch: 0 })).toThrow('maxBatch is 0');
});
