import { type Environment, type ModelName, parseModelName } from '../models/model-name.js';
import { checkedName } from '../models/name-kind.js';
import { connectionOf, nameForms } from '../models/named-connection.js';
import { count } from '../models/provider/answer/usage.js';
import { type KnownProvider, knownProviders, retrievalProviders } from '../models/providers.js';
import { fieldsOf } from '../objects.js';
import { checkValue } from '../options/check-options.js';
import type { Optional } from '../options/kind.js';
import { kind, required } from '../options/kinds.js';
import { type AiSdkEmbeddingModel, isAiSdkEmbedder } from './ai-sdk-model.js';
import { BatchedEmbedder } from './batched-embedder.js';
import type { Embedder } from './embedder.js';
import { LazyEmbedder } from './lazy-embedder.js';

/** Whatever names or is an embedder. */
export type EmbedderLike = Embedder | AiSdkEmbeddingModel | string;

const { voyage, cohere } = retrievalProviders;
const providers: Readonly<Record<string, KnownProvider>> = {
  ...Object.fromEntries(
    Object.entries(knownProviders).filter(([, { protocol }]) => protocol !== 'anthropic'),
  ),
  voyage,
  cohere,
};
const anyEmbedder = kind("an embedder, or the name of one such as 'offline'", (value) => {
  if (typeof value === 'string' || isAiSdkEmbedder(value)) return true;
  return typeof fieldsOf(value).embed === 'function';
});
const embedderLike = required(anyEmbedder);
/** For options. */
export const embedder: Optional = { ...anyEmbedder, inside: checkedName(providers, ['offline', 'ai-sdk']) };
const supported = ['offline', ...nameForms(providers), 'ai-sdk:<provider>:<model>'];

/**
 * An embedder from its name, such as `offline` or `openai:text-embedding-3-small`, from an embedding model of the
 * AI SDK, or from one of the application, which is then given batches and checked like the others. Nothing is loaded
 * and no key is looked up before the first call.
 */
export function resolveEmbedder(given: EmbedderLike, environment: Environment = process.env): Embedder {
  checkValue('resolveEmbedder()', 'the embedder', given, embedderLike);
  if (typeof given === 'string') {
    const name = parseModelName(given, providers);
    return new LazyEmbedder(name, () => loadNamedEmbedder(name, environment));
  }
  if (given instanceof BatchedEmbedder || given instanceof LazyEmbedder) return given;
  if (!isAiSdkEmbedder(given)) return batched(given);
  const { modelId: id, provider } = given;
  return new LazyEmbedder({ id, provider }, async () => (await import('./ai-sdk.js')).aiSdkEmbedder(given));
}

function batched(own: Embedder): Embedder {
  const { dimensions } = own;
  return new BatchedEmbedder(own, { dimensions, maxParallel: 1 }, async (texts, purpose, signal) => {
    const { vectors, usage } = await own.embed(texts, { purpose, signal });
    return { vectors, tokens: count(usage?.inputTokens) };
  });
}

async function loadNamedEmbedder(name: ModelName, environment: Environment): Promise<Embedder> {
  if (name.text === 'offline') return (await import('./offline.js')).offlineEmbedder();
  if (name.packageName !== undefined) {
    const [{ aiSdkEmbedder }, { packaged }] = await Promise.all([
      import('./ai-sdk.js'),
      import('../models/ai-sdk/packages.js'),
    ]);
    const makers = ['embeddingModel', 'textEmbeddingModel'];
    return aiSdkEmbedder(await packaged('Embedder', name, makers, isAiSdkEmbedder));
  }
  const options = connectionOf('Embedder', name, environment, supported);
  if (name.known === voyage) return (await import('./voyage.js')).voyageEmbedder(options);
  if (name.known === cohere) return (await import('./cohere.js')).cohereEmbedder(options);
  if (name.known?.protocol === 'gemini') return (await import('./gemini.js')).geminiEmbedder(options);
  return (await import('./openai.js')).openAIEmbedder(options);
}
