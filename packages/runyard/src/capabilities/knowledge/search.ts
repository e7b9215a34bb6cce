import { errorCode } from '../../core/errors/error-code.js';
import { errors, RunyardError } from '../../core/errors/errors.js';
import { reasonOf } from '../../core/errors/reason.js';
import type { FoundDocument, ReadSearch } from '../../core/knowledge/knowledge-space.js';
import type { FoundChunk, SearchRequest } from '../../core/knowledge/vector-store.js';
import type { BaseInDatabase } from './base-in-database.js';
import { embedderName } from './ingestion/cached-embedding.js';

const defaultResults = 10;

/** Finds the chunks that fit a text, the best first. A failure is an error and never looks like an empty result. */
export async function searchKnowledge(
  base: BaseInDatabase,
  text: string,
  { type: given, limit: most, filter, signal }: ReadSearch,
): Promise<readonly FoundDocument[]> {
  const { settings, vectorStore } = base;
  const type = given ?? settings.search ?? 'hybrid';
  const limit = most ?? settings.maxResults ?? defaultResults;
  if (text.trim() === '') return [];
  const vector = type === 'keyword' ? undefined : await embedded(base, text, signal);
  const request: SearchRequest = {
    type,
    text,
    vector,
    ...(vector !== undefined && { embedder: embedderName(base.embedder) }),
    limit,
    filter,
    similarityThreshold: settings.similarityThreshold,
    signal,
  };
  const found = await stored(base, () =>
    vectorStore.search(base.id, request).catch((error: unknown) => {
      if (type !== 'hybrid' || errorCode(error) !== 'embedder_changed') throw error;
      // the words can be compared all the same, until everything is embedded anew
      base.parts.log.warn(
        { knowledge: base.name, err: error },
        'the embedder changed: searching by words alone',
      );
      return vectorStore.search(base.id, { ...request, type: 'keyword', vector: undefined });
    }),
  );
  return type === 'keyword' ? found.map(unranked) : reranked(base, text, found, signal);
}

async function embedded(
  { embedder }: BaseInDatabase,
  text: string,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  try {
    const { vectors } = await embedder.embed([text], { purpose: 'query', ...(signal && { signal }) });
    // one for each text
    return vectors[0]!;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof RunyardError ? error : errors.embedderFailed(reasonOf(error), error);
  }
}

async function stored<T>({ parts, name }: BaseInDatabase, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    if (error instanceof RunyardError) throw error;
    parts.log.error({ err: error, knowledge: name }, 'a search of the vector store failed');
    throw errors.searchFailed(error);
  }
}

/** When the reranker fails, the order stays. */
async function reranked(
  { reranker, parts, name }: BaseInDatabase,
  text: string,
  found: readonly FoundChunk[],
  signal: AbortSignal | undefined,
): Promise<readonly FoundDocument[]> {
  if (reranker === undefined || found.length === 0) return found.map(unranked);
  try {
    const { results } = await reranker.rerank(
      text,
      found.map(({ content }) => content),
      signal === undefined ? {} : { signal },
    );
    return results.flatMap(({ index, score }) => {
      const document = found[index];
      return document === undefined ? [] : [{ ...document, rerankingScore: Math.min(Math.max(score, 0), 1) }];
    });
  } catch (error) {
    signal?.throwIfAborted();
    parts.log.warn({ err: error, knowledge: name }, 'the reranker failed: the order of the search stays');
    return found.map(unranked);
  }
}

function unranked(chunk: FoundChunk): FoundDocument {
  return { ...chunk, rerankingScore: undefined };
}
