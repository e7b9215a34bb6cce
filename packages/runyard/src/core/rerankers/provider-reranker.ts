import { billedTokens } from '../embedders/cohere.js';
import { wellFormed } from '../embedders/well-formed.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { count as tokenCount, usageOf } from '../models/provider/answer/usage.js';
import {
  byIndex,
  ProviderService,
  type ServiceOptions,
  serviceShape,
} from '../models/provider/provider-service.js';
import { type KnownProvider, retrievalProviders } from '../models/providers.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import { count, listOf, name, objectOf, signal } from '../options/kinds.js';
import type { Ranking, Reranker, RerankOptions } from './reranker.js';

/** The options of every reranker that calls a provider. */
export type RerankerOptions = ServiceOptions;

const rerankerOptions = objectOf<RerankerOptions>(serviceShape);
const rerankOptions = objectOf<RerankOptions>({ topN: count(1), signal });

/** Where the formats differ; all of them have `/rerank`, `index` and `relevance_score`. */
interface RerankWire {
  readonly known: KnownProvider;
  readonly topName: 'top_n' | 'top_k';
  readonly listName: 'results' | 'data';
}

const { cohere, voyage, jina } = retrievalProviders;

/** A reranker of Cohere, by version 2 of its API. */
export function cohereReranker(options: RerankerOptions): Reranker {
  return providerReranker('cohereReranker()', options, {
    known: cohere,
    topName: 'top_n',
    listName: 'results',
  });
}

/** A reranker of Voyage AI. */
export function voyageReranker(options: RerankerOptions): Reranker {
  return providerReranker('voyageReranker()', options, { known: voyage, topName: 'top_k', listName: 'data' });
}

/** A reranker of Jina AI, or behind a server that has `/rerank` as Jina does, such as vLLM and llama.cpp. */
export function jinaReranker(options: RerankerOptions): Reranker {
  return providerReranker('jinaReranker()', options, { known: jina, topName: 'top_n', listName: 'results' });
}

function providerReranker(
  owner: string,
  options: RerankerOptions,
  { known, topName, listName }: RerankWire,
): Reranker {
  checkOptions(owner, options, rerankerOptions);
  const service = new ProviderService(options, known, '/rerank');
  return {
    id: service.id,
    provider: service.provider,
    async rerank(query, documents, given = {}) {
      checkOptions('rerank()', given, rerankOptions);
      checkValue('rerank()', 'the query', query, name);
      checkValue('rerank()', 'documents', documents, listOf(name));
      given.signal?.throwIfAborted();
      const wanted = Math.min(given.topN ?? documents.length, documents.length);
      if (wanted === 0) return { results: [], usage: usageOf({ inputTokens: 0, outputTokens: 0 }) };
      const body = {
        model: service.id,
        query: wellFormed(query),
        documents: documents.map(wellFormed),
        [topName]: wanted,
        ...options.parameters,
      };
      const unending = new AbortController().signal;
      return service.post(body, given.signal ?? unending, (answer) =>
        readRanking(answer, listName, documents.length, wanted),
      );
    },
  };
}

function readRanking(answer: JsonObject, listName: string, documents: number, wanted: number): Ranking {
  const results = byIndex(answer[listName], documents, listName).flatMap((entry, index) => {
    if (entry === undefined) return [];
    const score = entry.relevance_score;
    if (typeof score !== 'number' || !Number.isFinite(score)) {
      throw new Error(`a document whose relevance_score is ${JSON.stringify(score)}`);
    }
    return [{ index, score }];
  });
  if (results.length < wanted)
    throw new Error(`${results.length} of the ${wanted} documents that were wanted`);
  results.sort((one, other) => other.score - one.score);
  return {
    results: results.slice(0, wanted),
    usage: usageOf({ inputTokens: tokens(answer), outputTokens: 0 }),
  };
}

function tokens({ usage, meta }: JsonObject): number {
  if (!isJsonObject(usage)) return billedTokens(meta);
  return tokenCount(usage.prompt_tokens ?? usage.total_tokens);
}
