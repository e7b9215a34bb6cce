import type { JsonObject } from '../json.js';
import { ProviderService, type ServiceOptions, serviceShape } from '../models/provider/provider-service.js';
import type { KnownProvider } from '../models/providers.js';
import { checkOptions } from '../options/check-options.js';
import { objectOf } from '../options/kinds.js';
import { BatchedEmbedder, type BatchOptions, batchShape, type SentBatch } from './batched-embedder.js';
import type { Embedder, EmbeddingPurpose } from './embedder.js';

/** The options of every embedder that calls a provider. */
export interface EmbedderOptions extends ServiceOptions, BatchOptions {}

const embedderOptions = objectOf<EmbedderOptions>({ ...serviceShape, ...batchShape });

/** The request and response format of one provider. */
export interface EmbeddingWire {
  readonly known: KnownProvider;
  readonly path: string;
  readonly keyHeader?: string;
  /** The most texts that the provider takes in one request. */
  readonly maxBatch?: number;
  readonly prefixes?: BatchOptions['prefixes'];
  body(texts: readonly string[], purpose: EmbeddingPurpose): JsonObject;
  read(answer: JsonObject, texts: number): SentBatch;
}

/** `owner` is the name of the function that the options were given to. */
export function providerEmbedder(
  owner: string,
  options: EmbedderOptions,
  wireFor: (options: EmbedderOptions) => EmbeddingWire,
): Embedder {
  checkOptions(owner, options, embedderOptions);
  const { known, path, keyHeader, body, read, ...defaults } = wireFor(options);
  const service = new ProviderService(options, known, path, keyHeader);
  const batches = {
    ...options,
    maxBatch: options.maxBatch ?? defaults.maxBatch,
    prefixes: options.prefixes ?? defaults.prefixes,
  };
  return new BatchedEmbedder(service, batches, (texts, purpose, signal) =>
    service.post(body(texts, purpose), signal, (answer) => read(answer, texts.length)),
  );
}
