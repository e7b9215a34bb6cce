import { type Environment, parseModelName } from '../models/model-name.js';
import { checkedName } from '../models/name-kind.js';
import { connectionOf, nameForms } from '../models/named-connection.js';
import { knownProviders, retrievalProviders } from '../models/providers.js';
import { fieldsOf } from '../objects.js';
import { checkValue } from '../options/check-options.js';
import type { Optional } from '../options/kind.js';
import { kind, required } from '../options/kinds.js';
import type { Reranker } from './reranker.js';

/** Whatever names or is a reranker. */
export type RerankerLike = Reranker | string;

const local = Object.entries(knownProviders).filter(([prefix]) => /^(vllm|llamacpp)$/.test(prefix));
const providers = { ...retrievalProviders, ...Object.fromEntries(local) };
const anyReranker = kind(
  "a reranker, or the name of one such as 'cohere:rerank-v3.5'",
  (value) => typeof value === 'string' || typeof fieldsOf(value).rerank === 'function',
);
const rerankerLike = required(anyReranker);
/** For options. */
export const reranker: Optional = { ...anyReranker, inside: checkedName(providers, []) };

/**
 * A reranker from its name, such as `cohere:rerank-v3.5`, or as it is. Nothing is loaded and no key is looked up
 * before the first call.
 */
export function resolveReranker(given: RerankerLike, environment: Environment = process.env): Reranker {
  checkValue('resolveReranker()', 'the reranker', given, rerankerLike);
  if (typeof given !== 'string') return given;
  const name = parseModelName(given, providers);
  let loaded: Reranker | undefined;
  return {
    id: name.id,
    provider: name.provider,
    async rerank(query, documents, options) {
      if (loaded === undefined) {
        const connection = connectionOf('Reranker', name, environment, nameForms(providers));
        const { cohereReranker, jinaReranker, voyageReranker } = await import('./provider-reranker.js');
        const make = { cohere: cohereReranker, voyage: voyageReranker }[name.prefix] ?? jinaReranker;
        loaded = make(connection);
      }
      return loaded.rerank(query, documents, options);
    },
  };
}
