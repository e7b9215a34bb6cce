import type { JsonObject } from '../json.js';
import { modelErrorOf } from '../models/ai-sdk/failure.js';
import { count as tokenCount } from '../models/provider/answer/usage.js';
import { pauseBeforeRetry } from '../models/provider/call/provider-call.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import { callable, count, json, kind, objectOf } from '../options/kinds.js';
import { type AiSdkEmbeddingModel, isAiSdkEmbedder } from './ai-sdk-model.js';
import { BatchedEmbedder, type BatchOptions, batchShape, type SentBatch } from './batched-embedder.js';
import type { Embedder } from './embedder.js';
import { LazyEmbedder } from './lazy-embedder.js';

export interface AiSdkEmbedderOptions extends BatchOptions {
  /** How often a request that failed is tried again. Default 2. */
  readonly retries?: number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Options of the provider's own, by its name: `{ mistral: { … } }`. */
  readonly providerOptions?: JsonObject;
}

const aiSdkEmbedderOptions = objectOf<AiSdkEmbedderOptions>({
  ...batchShape,
  retries: count(0),
  wait: callable,
  providerOptions: json,
});

const embeddingModel = kind(
  "an embedding model of the AI SDK, such as mistral.embedding('…')",
  isAiSdkEmbedder,
);

/** An embedding model of the AI SDK, such as `mistral.embedding('mistral-embed')`, as an embedder. */
export function aiSdkEmbedder(model: AiSdkEmbeddingModel, options: AiSdkEmbedderOptions = {}): Embedder {
  checkValue('aiSdkEmbedder()', 'the model', model, embeddingModel);
  checkOptions('aiSdkEmbedder()', options, aiSdkEmbedderOptions);
  const { modelId: id, provider } = model;
  const { dimensions } = options;
  // how much the model takes at once may be known only later
  return new LazyEmbedder({ id, provider, dimensions }, async () => {
    const [most = 0, parallel] = await Promise.all([model.maxEmbeddingsPerCall, model.supportsParallelCalls]);
    const batches = {
      ...options,
      maxBatch: options.maxBatch ?? (most >= 1 && most < 128 ? Math.floor(most) : undefined),
      maxParallel: options.maxParallel ?? (parallel ? undefined : 1),
    };
    return new BatchedEmbedder({ id, provider }, batches, (texts, _, signal) =>
      embedBatch(model, options, texts, signal),
    );
  });
}

async function embedBatch(
  model: AiSdkEmbeddingModel,
  { providerOptions, ...retrying }: AiSdkEmbedderOptions,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<SentBatch> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      const call = { values: [...texts], abortSignal: signal, ...(providerOptions && { providerOptions }) };
      const { embeddings, usage } = await model.doEmbed(call);
      return { vectors: embeddings, tokens: tokenCount(usage?.tokens) };
    } catch (error) {
      signal.throwIfAborted();
      await pauseBeforeRetry(modelErrorOf(model.provider, error), attempt, retrying, signal);
    }
  }
}
