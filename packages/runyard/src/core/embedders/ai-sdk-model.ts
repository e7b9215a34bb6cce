import { fieldsOf } from '../objects.js';
/**
 * The embedding models of the AI SDK (`EmbeddingModelV2` and later of `@ai-sdk/provider`), as far as the bridge
 * uses them. Described by shape, so that neither the package nor one version of it is needed.
 */
export interface AiSdkEmbeddingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined;
  readonly supportsParallelCalls: PromiseLike<boolean> | boolean;
  doEmbed(options: {
    values: string[];
    abortSignal?: AbortSignal;
    // biome-ignore lint/suspicious/noExplicitAny: its type differs from version to version.
    providerOptions?: any;
  }): PromiseLike<{ readonly embeddings: number[][]; readonly usage?: { readonly tokens: number } }>;
}

export function isAiSdkEmbedder(value: unknown): value is AiSdkEmbeddingModel {
  const { specificationVersion, doEmbed } = fieldsOf(value);
  return typeof specificationVersion === 'string' && typeof doEmbed === 'function';
}
