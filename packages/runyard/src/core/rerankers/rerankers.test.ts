import { describe, expect, it } from 'vitest';
import { adapterFor, failure, fetchOf, secret } from '../../../test/support/providers/model-calls.js';
import type { ModelServerScript } from '../../../test/support/providers/model-server.js';
import { cohereReranker, jinaReranker, type RerankerOptions, voyageReranker } from './provider-reranker.js';
import { resolveReranker } from './resolve.js';

const rerankerFor = (
  make: typeof cohereReranker,
  script: ModelServerScript,
  options: Partial<RerankerOptions> = {},
) => adapterFor(script, (connection) => make({ id: 'm', provider: 'Test', ...connection, ...options }));

const scored = (...scores: readonly [number, unknown][]) =>
  scores.map(([index, relevance_score]) => ({ index, relevance_score, document: { text: 'x' } }));

const formats = {
  cohereReranker: {
    make: cohereReranker,
    top: 'top_n',
    answer: (list: unknown) => ({
      results: list,
      meta: { billed_units: { search_units: 1, input_tokens: 9 } },
    }),
  },
  voyageReranker: {
    make: voyageReranker,
    top: 'top_k',
    answer: (list: unknown) => ({ object: 'list', data: list, usage: { total_tokens: 9 } }),
  },
  jinaReranker: {
    make: jinaReranker,
    top: 'top_n',
    answer: (list: unknown) => ({ results: list, usage: { total_tokens: 9 } }),
  },
};

describe.each(Object.entries(formats))('%s', (_, { make, top, answer }) => {
  it('asks in the format of the provider and returns the best first', async () => {
    const script = [{ body: answer(scored([1, 0.2], [2, 0.9])) }];
    const { model, server } = await rerankerFor(make, script, { parameters: { priority: 1 } });
    await expect(model.rerank('q', ['a', 'b', 'c'], { topN: 2 })).resolves.toEqual({
      results: [
        { index: 2, score: 0.9 },
        { index: 1, score: 0.2 },
      ],
      usage: { inputTokens: 9, outputTokens: 0, totalTokens: 9 },
    });
    expect(server.requests[0]).toMatchObject({
      path: '/v1/rerank',
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(server.requests[0]?.body).toEqual({
      model: 'm',
      query: 'q',
      documents: ['a', 'b', 'c'],
      [top]: 2,
      priority: 1,
    });
  });

  it('returns no more documents than requested and given', async () => {
    const all = answer(scored([0, 0.1], [1, 0.2]));
    const { fetch, bodies } = fetchOf(() => ({ body: all }));
    const model = make({ id: 'm', apiKey: secret, fetch });
    expect((await model.rerank('q', ['a', 'b'], { topN: 1 })).results).toEqual([{ index: 1, score: 0.2 }]);
    expect((await model.rerank('q', ['a', 'b'], { topN: 50 })).results).toHaveLength(2);
    expect(bodies[1]?.[top]).toBe(2);
    await expect(model.rerank('q', [])).resolves.toMatchObject({ results: [], usage: { totalTokens: 0 } });
    expect(bodies).toHaveLength(2);
  });

  it.each<[unknown, string]>([
    [scored([2, 0.5], [0, 0.1]), 'index is 2, of 2 in all'],
    [scored([0, 0.5], [0, 0.1]), 'whose index is 0'],
    [scored([0, 'high'], [1, 0]), 'a document whose relevance_score is "high"'],
    [scored([0, undefined], [1, 0]), 'a document whose relevance_score is undefined'],
    [scored([0, 0.5]), '1 of the 2 documents that were wanted'],
    [{ constructor: 1 }, 'an answer without'],
    [[null], 'whose index is undefined'],
  ])('reports an answer with %j', async (list, message) => {
    const { fetch } = fetchOf(() => ({ body: answer(list) }));
    const model = make({ id: 'm', provider: 'Test', apiKey: secret, fetch });
    const error = await failure(model.rerank('q', ['a', 'b']));
    expect(error).toMatchObject({ kind: 'protocol' });
    expect(error.message).toMatch(/^Test sent /);
    expect(error.message).toContain(message);
  });
});

it('tries again, aborts and hides the key as models do', async () => {
  const { model, waits, server } = await rerankerFor(cohereReranker, [
    { status: 503 },
    { status: 401, body: { message: `wrong key ${secret}` } },
    { instead: 'stall' },
  ]);
  expect((await failure(model.rerank('q', ['a']))).message).toBe('Test answered 401: wrong key ***');
  expect(waits).toHaveLength(1);
  const controller = new AbortController();
  const ranking = model.rerank('q', ['a'], { signal: controller.signal });
  const settled = expect(ranking).rejects.toThrow('enough');
  controller.abort(new Error('enough'));
  await settled;
  expect(server.requests.length).toBeLessThanOrEqual(3);
});

it.each<[unknown[], string]>([
  [[' ', ['a']], "rerank(): the query is ' '. Give a text that is not empty."],
  [['q', ['a', '']], "rerank(): documents[1] is ''. Give a text that is not empty."],
  [['q', ['a'], { topN: 0 }], 'rerank(): topN is 0. Give a whole number, 1 or more.'],
  [['q', ['a'], { topn: 1 }], 'rerank(): topn is not an option. Did you mean topN?'],
])('rejects %j', async (given, message) => {
  await expect(cohereReranker({ id: 'm', apiKey: 'k' }).rerank(...(given as [never, never]))).rejects.toThrow(
    message,
  );
});

describe('resolveReranker', () => {
  it.each([
    ['cohere:m', 'COHERE', 'Cohere', { results: scored([0, 1]) }],
    ['voyage:m', 'VOYAGE', 'Voyage', { data: scored([0, 1]) }],
    ['jina:m', 'JINA', 'Jina', { results: scored([0, 1]) }],
    ['vllm:m', 'VLLM', 'vLLM', { results: scored([0, 1]) }],
  ])('calls %s at the address and with the key of the environment', async (name, prefix, provider, body) => {
    const { model, server } = await adapterFor([{ body }], ({ baseUrl, apiKey }) =>
      resolveReranker(name, { [`${prefix}_BASE_URL`]: baseUrl, [`${prefix}_API_KEY`]: apiKey }),
    );
    expect(model).toMatchObject({ id: 'm', provider });
    expect((await model.rerank('q', ['a'])).results).toEqual([{ index: 0, score: 1 }]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it('leaves a reranker as it is and says what is missing or wrong', async () => {
    const own = cohereReranker({ id: 'm' });
    expect(resolveReranker(own)).toBe(own);
    for (const wrong of [undefined, null, { id: 'm' }])
      expect(() => resolveReranker(wrong as never)).toThrow('Give a reranker, or the name of one such as');
    expect((await failure(own.rerank('q', ['a']))).message).toContain('Set COHERE_API_KEY, or give apiKey.');
    const refusal = async (name: string) =>
      (await failure(resolveReranker(name, {}).rerank('q', ['a']))).message;
    expect(await refusal('cohere:m')).toBe(
      "Reranker 'cohere:m' cannot be called yet. Set COHERE_API_KEY to your Cohere key.",
    );
    for (const name of ['openai:m', 'constructor:m', 'ai-sdk:x:m']) {
      expect(await refusal(name)).toContain(
        'names an unknown provider. Supported: voyage:<model>, cohere:<model>',
      );
    }
  });
});
