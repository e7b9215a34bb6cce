import { describe, expect, it } from 'vitest';
import { adapterFor, failure, fetchOf } from '../../../test/support/providers/model-calls.js';
import type { ModelServerReply, ModelServerScript } from '../../../test/support/providers/model-server.js';
import { BatchedEmbedder } from './batched-embedder.js';
import { openAIEmbedder } from './openai.js';
import type { EmbedderOptions } from './provider-embedder.js';

/** Texts that are numbers get vectors that distinguish them. */
const vectorOf = (text: string) => [Number(text.replace(/\D/g, '')), 1];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

function answer(texts: readonly string[]): ModelServerReply {
  const data = texts.map((text, index) => ({ index, embedding: vectorOf(text) }));
  return { body: { data, usage: { prompt_tokens: texts.length } } };
}

async function embedderFor(script: ModelServerScript, options: Partial<EmbedderOptions> = {}) {
  const made = await adapterFor(script, (connection) =>
    openAIEmbedder({ id: 'm', provider: 'Test', ...connection, ...options }),
  );
  const sizes = () => made.server.requests.map(({ body }) => body.input.length);
  return { ...made, sizes };
}

/** The same without a server. */
function quickEmbedder(
  reply: (texts: string[], index: number) => ModelServerReply,
  options: Partial<EmbedderOptions> = {},
) {
  const { fetch, bodies } = fetchOf(({ input }, index) => reply(input, index));
  const model = openAIEmbedder({ id: 'm', provider: 'Test', apiKey: 'k', fetch, ...options });
  return { model, bodies, sizes: () => bodies.map(({ input }) => input.length) };
}

/** Which texts the vectors are those of. */
const textsOf = (vectors: readonly Float32Array[]) => vectors.map(([x, y]) => String(Math.round(x! / y!)));

describe('batches', () => {
  it('are bounded by count, and their vectors are in the order of the texts', async () => {
    const { model, sizes } = quickEmbedder(answer, { maxBatch: 4 });
    const { vectors, usage } = await model.embed(numbers(10));
    expect(textsOf(vectors)).toEqual(numbers(10));
    expect(sizes().sort()).toEqual([2, 4, 4]);
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 0, totalTokens: 10 });
  });

  it('are bounded by bytes, and a longer text travels alone', async () => {
    const { model, sizes } = quickEmbedder(answer, {
      maxBatchBytes: 8,
      maxParallel: 1,
    });
    // three bytes each: two fit
    await model.embed(['語1', '語2', '語3', `${'語'.repeat(9)}4`, '語5']);
    expect(sizes()).toEqual([2, 1, 1, 1]);
  });

  it('are in flight at the same time only up to the bound', async () => {
    let active = 0;
    let most = 0;
    const embedder = new BatchedEmbedder(
      { id: 'm', provider: 'Test' },
      { maxBatch: 1, maxParallel: 3 },
      async (texts) => {
        most = Math.max(most, ++active);
        // the later ones answer first
        for (let turn = 10 - Number(texts[0]); turn > 0; turn--) await Promise.resolve();
        active--;
        return { vectors: texts.map(vectorOf), tokens: 1 };
      },
    );
    expect(textsOf((await embedder.embed(numbers(9))).vectors)).toEqual(numbers(9));
    expect(most).toBe(3);
  });

  it('need no request when there are no texts', async () => {
    const { model, bodies } = quickEmbedder(answer);
    await expect(model.embed([])).resolves.toEqual({
      vectors: [],
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    });
    expect(bodies).toEqual([]);
  });
});

describe('a batch that the provider rejects as too large', () => {
  it.each([
    [413, 'Payload Too Large'],
    [400, 'Requested 375703 tokens, max 300000 tokens per request'],
    [400, 'Too many tokens in batch. Max is 16384 got 17555'],
    [
      400,
      'The max allowed tokens per submitted batch is 120000. Your batch has 147910 tokens after truncation.',
    ],
    [400, 'batch size is invalid, it should not be larger than 10.: input.contents'],
    [422, 'input batch size 136 > maximum allowed batch size 64'],
    [400, 'at most 100 requests can be in one batch'],
    [400, 'invalid request: total number of texts must be at most 96 - received 100'],
    [
      429,
      'Request too large for text-embedding-3-small on tokens per min (TPM): Limit 40000, Requested 45000.',
    ],
  ])('is halved until it fits: %i %s', async (status, message) => {
    const { model, sizes } = quickEmbedder(
      (texts) => (texts.length > 2 ? { status, body: { error: { message } } } : answer(texts)),
      { retries: 0, maxParallel: 1, maxBatch: 7 },
    );
    const { vectors, usage } = await model.embed(numbers(9));
    expect(textsOf(vectors)).toEqual(numbers(9));
    expect(usage.inputTokens).toBe(9);
    expect(sizes()).toEqual([7, 4, 2, 2, 3, 2, 1, 2]);
  });

  it('makes the batches after it smaller', async () => {
    const { model, sizes } = quickEmbedder((texts) => (texts.length > 2 ? { status: 413 } : answer(texts)), {
      maxParallel: 1,
      maxBatch: 4,
    });
    const texts = numbers(8);
    expect(textsOf((await model.embed(texts)).vectors)).toEqual(texts);
    expect(sizes()).toEqual([4, 2, 2, 2, 2]);
  });

  it('fails when a single text is too large', async () => {
    const { model, sizes } = quickEmbedder(() => ({ status: 413, body: { message: 'too large' } }));
    expect(await failure(model.embed(numbers(4)))).toMatchObject({ status: 413, kind: 'refused' });
    expect(sizes()).toEqual([4, 2, 1]);
  });

  it('is not inferred from an error of the application', async () => {
    const sizes: number[] = [];
    const embedder = new BatchedEmbedder({ id: 'm', provider: 'Test' }, { maxBatch: 4 }, async (texts) => {
      sizes.push(texts.length);
      throw new Error('too large');
    });
    await expect(embedder.embed(numbers(4))).rejects.toThrow('too large');
    expect(sizes).toEqual([4]);
  });
});

describe('failures', () => {
  it('are tried again as those of models are, and batches that succeeded are not', async () => {
    const { model, server, waits } = await embedderFor(
      ({ body }, index) =>
        index === 1 ? { status: 503, headers: { 'retry-after': '2' } } : answer(body.input),
      { maxBatch: 1, maxParallel: 1 },
    );
    expect(textsOf((await model.embed(numbers(3))).vectors)).toEqual(numbers(3));
    expect(server.requests.map(({ body }) => body.input[0])).toEqual(['0', '1', '1', '2']);
    expect(waits).toEqual([2_000]);
  });

  it('end the other requests and hold no secrets', async () => {
    const { model, server } = await embedderFor(
      ({ headers, body }) =>
        body.input[0] === '0'
          ? { instead: 'stall' }
          : { status: 401, body: { error: { message: `Wrong key ${headers.authorization}` } } },
      { maxBatch: 1 },
    );
    const error = await failure(model.embed(numbers(2)));
    expect(error).toMatchObject({ status: 401, message: 'Test answered 401: Wrong key Bearer ***' });
    await server.clientLeft();
  });

  it('are reported when a provider is silent', async () => {
    const { model } = await embedderFor([{ instead: 'stall' }], { firstByteTimeoutMs: 5 });
    expect(await failure(model.embed(['1']))).toMatchObject({ kind: 'timeout' });
  });

  it('are reported when vectors of two batches differ in length', async () => {
    const { model } = quickEmbedder(
      (_, index) => ({ body: { data: [{ index: 0, embedding: index === 0 ? [1, 2] : [1] }] } }),
      { maxBatch: 1, maxParallel: 1 },
    );
    expect((await failure(model.embed(numbers(2)))).message).toBe(
      'Test sent a vector of 1 numbers where 2 were expected.',
    );
  });
});

describe('an abort', () => {
  it('ends the request in flight with its reason', async () => {
    const { model, server } = await embedderFor([{ instead: 'stall' }]);
    const controller = new AbortController();
    const embedding = model.embed(['1'], { signal: controller.signal });
    const settled = expect(embedding).rejects.toThrow('enough');
    await server.answered();
    controller.abort(new Error('enough'));
    await settled;
    await server.clientLeft();
  });

  it('that came before sends nothing', async () => {
    const { model, bodies } = quickEmbedder(answer);
    await expect(model.embed(['1'], { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
    expect(bodies).toEqual([]);
  });
});

describe('what embed() is given', () => {
  it.each<[unknown, unknown, string]>([
    [['a', ' \n'], {}, "embed(): texts[1] is ' \n'. Give a text that is not empty."],
    [['a', 5], {}, 'embed(): texts[1] is 5. Give a text that is not empty.'],
    ['a', {}, "embed(): texts is 'a'. Give a list."],
    [['a'], { purpose: 'search' }, "embed(): purpose is 'search'. Give 'query' or 'document'."],
    [['a'], { purpos: 'query' }, 'embed(): purpos is not an option. Did you mean purpose?'],
  ])('is rejected if it cannot be embedded: %j %j', async (texts, options, message) => {
    const { model, bodies } = quickEmbedder(answer);
    await expect(model.embed(texts as never, options as never)).rejects.toThrow(message);
    expect(bodies).toEqual([]);
  });

  it('is sent without halves of characters', async () => {
    const { model, bodies } = quickEmbedder(answer);
    await model.embed(['1🙂'.slice(0, 2)]);
    expect(bodies[0]?.input).toEqual(['1\ufffd']);
  });
});
