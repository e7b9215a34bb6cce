import { isJsonObject, type JsonObject } from '../json.js';
import { count } from '../models/provider/answer/usage.js';
import { retrievalProviders } from '../models/providers.js';
import type { SentBatch } from './batched-embedder.js';
import type { Embedder } from './embedder.js';
import { type EmbedderOptions, providerEmbedder } from './provider-embedder.js';

/** An embedding model of Cohere, by version 2 of its API. */
export function cohereEmbedder(options: EmbedderOptions): Embedder {
  return providerEmbedder('cohereEmbedder()', options, ({ id, dimensions, parameters }) => ({
    known: retrievalProviders.cohere,
    path: '/embed',
    maxBatch: 96,
    body: (texts, purpose) => ({
      model: id,
      texts: [...texts],
      input_type: `search_${purpose}`,
      embedding_types: ['float'],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      ...parameters,
    }),
    read,
  }));
}

function read({ embeddings, meta }: JsonObject): SentBatch {
  return { vectors: isJsonObject(embeddings) ? embeddings.float : undefined, tokens: billedTokens(meta) };
}

/** Cohere counts in `meta` what it sends a bill for. */
export function billedTokens(meta: unknown): number {
  const billed = isJsonObject(meta) && isJsonObject(meta.billed_units) ? meta.billed_units : undefined;
  return count(billed?.input_tokens);
}
