import { expect, it } from 'vitest';
import { adapterFor, failure } from '../../../test/support/providers/model-calls.js';
import type { Embedder } from './embedder.js';
import { offlineEmbedder } from './offline.js';
import { resolveEmbedder } from './resolve.js';

const listed = { data: [{ index: 0, embedding: [1] }] };
const refusal = async (name: string, environment = {}) =>
  (await failure(resolveEmbedder(name, environment).embed(['a']))).message;

it('leaves an embedder of an adapter as it is', () => {
  for (const made of [offlineEmbedder(), resolveEmbedder('offline')])
    expect(resolveEmbedder(made)).toBe(made);
});

it.each([undefined, null, 7, { id: 'm' }])('rejects what is no embedder: %j', (wrong) => {
  expect(() => resolveEmbedder(wrong as never)).toThrow(
    "Give an embedder, or the name of one such as 'offline'.",
  );
});

it('sends batches to an embedder of the application, and checks its vectors', async () => {
  const sizes: number[] = [];
  const own = (vectors: (texts: readonly string[]) => unknown): Embedder => ({
    id: 'own',
    provider: 'Own',
    dimensions: 2,
    embed: async (texts, options) => {
      expect(options).toMatchObject({ purpose: 'query', signal: expect.any(AbortSignal) });
      sizes.push(texts.length);
      return { vectors: vectors(texts), usage: { inputTokens: 1 } } as never;
    },
  });
  const texts = Array.from({ length: 130 }, () => 'a');
  const one = resolveEmbedder(own((given) => given.map(() => Float32Array.of(3, 4))));
  expect(one).toMatchObject({ id: 'own', provider: 'Own', dimensions: 2 });
  const { vectors, usage } = await one.embed(texts, { purpose: 'query' });
  expect([vectors[129], usage.inputTokens, sizes]).toEqual([Float32Array.of(0.6, 0.8), 2, [128, 2]]);
  for (const [wrong, message] of [
    [() => [], 'Own sent 0 vectors for 1 texts'],
    [() => undefined, 'Own sent no list of vectors'],
    [() => [[1]], 'Own sent a vector of 1 numbers where 2 were expected.'],
  ] as const) {
    const other = resolveEmbedder(own(wrong));
    expect((await failure(other.embed(['a'], { purpose: 'query' }))).message).toContain(message);
  }
});

it('knows the offline embedder, which needs nothing', async () => {
  const { vectors } = await resolveEmbedder('offline', {}).embed(['Hello']);
  expect(vectors[0]).toHaveLength(512);
});

it.each([
  ['openai:m', 'OPENAI', 'OpenAI', '/v1/embeddings', listed],
  ['azure:m', 'AZURE_OPENAI', 'Azure', '/v1/embeddings', listed],
  ['mistral:m', 'MISTRAL', 'Mistral', '/v1/embeddings', listed],
  ['ollama:m', 'OLLAMA', 'Ollama', '/v1/embeddings', listed],
  ['voyage:m', 'VOYAGE', 'Voyage', '/v1/embeddings', listed],
  ['cohere:m', 'COHERE', 'Cohere', '/v1/embed', { embeddings: { float: [[1]] } }],
  ['gemini:m', 'GEMINI', 'Google', '/v1/models/m:batchEmbedContents', { embeddings: [{ values: [1] }] }],
])(
  'calls %s at the address and with the key of the environment',
  async (name, prefix, provider, path, body) => {
    const { model, server } = await adapterFor([{ body }], ({ baseUrl, apiKey }) =>
      resolveEmbedder(name, { [`${prefix}_BASE_URL`]: baseUrl, [`${prefix}_API_KEY`]: apiKey }),
    );
    expect(model).toMatchObject({ id: 'm', provider });
    await expect(model.embed(['a'])).resolves.toMatchObject({ vectors: [Float32Array.of(1)] });
    expect(server.requests[0]?.path).toBe(path);
    expect(JSON.stringify(server.requests[0]?.headers)).toContain('sk-very-secret-key');
  },
);

it('says what is missing or wrong at the first call', async () => {
  expect(await refusal('openai:m')).toBe(
    "Embedder 'openai:m' cannot be called yet. Set OPENAI_API_KEY to your OpenAI key.",
  );
  expect(await refusal('voyage:m')).toContain('Set VOYAGE_API_KEY to your Voyage key.');
  expect(await refusal('openai:')).toBe("Embedder 'openai:' names no model. Write openai:<model>.");
  for (const name of ['anthropic:m', 'jina:m', 'constructor:m']) {
    expect(await refusal(name)).toMatch(
      /^Embedder '\w+:m' names an unknown provider\. Supported: offline, openai:<model>, gemini:<model>/,
    );
  }
  expect(await refusal('openai/text-embedding-3-small')).toContain('names no provider. Supported: offline');
  expect(await refusal('ai-sdk:nowhere:m')).toBe(
    "Embedder 'ai-sdk:nowhere:m' needs the package @ai-sdk/nowhere. Install it: npm install @ai-sdk/nowhere",
  );
  expect(await refusal('ai-sdk:provider:m')).toContain('exports no ready provider');
});
