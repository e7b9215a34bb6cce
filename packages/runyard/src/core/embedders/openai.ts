import { isJsonObject, type JsonObject } from '../json.js';
import { count } from '../models/provider/answer/usage.js';
import { byIndex } from '../models/provider/provider-service.js';
import { isOpenAIs, openAI } from '../models/providers.js';
import type { SentBatch } from './batched-embedder.js';
import type { Embedder } from './embedder.js';
import { type EmbedderOptions, providerEmbedder } from './provider-embedder.js';

/** An embedding model of OpenAI, or behind any server that has `/embeddings` as OpenAI does. */
export function openAIEmbedder(options: EmbedderOptions): Embedder {
  return providerEmbedder('openAIEmbedder()', options, ({ id, dimensions, baseUrl, parameters }) => ({
    known: openAI,
    path: '/embeddings',
    body: (texts) => ({
      model: id,
      input: [...texts],
      ...(dimensions !== undefined && { [dimensionsField(baseUrl)]: dimensions }),
      // a third of the bytes, and nothing to parse; other servers may not know it
      ...(isOpenAIs(baseUrl ?? openAI.baseUrl!) && { encoding_format: 'base64' }),
      ...parameters,
    }),
    read: listedEmbeddings,
  }));
}

function dimensionsField(baseUrl = ''): string {
  return /^https:\/\/[^/]*\bmistral\.ai\b/.test(baseUrl) ? 'output_dimension' : 'dimensions';
}

const noUsage: JsonObject = {};

/** The form of OpenAI's answers, which others have taken over. */
export function listedEmbeddings({ data, usage }: JsonObject, texts: number): SentBatch {
  const { prompt_tokens, total_tokens } = isJsonObject(usage) ? usage : noUsage;
  // Google leaves an index of 0 out, some servers leave out all: such an entry is in its place
  const placed = Array.isArray(data)
    ? data.map((entry, index) => (isJsonObject(entry) ? { index, ...entry } : entry))
    : data;
  return {
    vectors: byIndex(placed, texts, 'data').map((entry) => entry?.embedding),
    tokens: count(prompt_tokens ?? total_tokens),
  };
}
