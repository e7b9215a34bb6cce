import { retrievalProviders } from '../models/providers.js';
import type { Embedder } from './embedder.js';
import { listedEmbeddings } from './openai.js';
import { type EmbedderOptions, providerEmbedder } from './provider-embedder.js';

/** An embedding model of Voyage AI. */
export function voyageEmbedder(options: EmbedderOptions): Embedder {
  return providerEmbedder('voyageEmbedder()', options, ({ id, dimensions, parameters }) => ({
    known: retrievalProviders.voyage,
    path: '/embeddings',
    body: (texts, purpose) => ({
      model: id,
      input: [...texts],
      input_type: purpose,
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      ...parameters,
    }),
    read: listedEmbeddings,
  }));
}
