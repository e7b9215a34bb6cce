import type { FoundChunk, RunyardClient } from '@runyard/client';
import { inBase } from '../bases.js';

export interface Neighbours {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Contents that share all metadata are distinguished by their ids, among so many chunks. */
const mostLooked = 200;

/**
 * The chunks before and after one. Chunks of a document have numbers: the neighbours are those with the same metadata
 * and the numbers beside it. Where a document has pages, they are on the same page.
 */
export async function neighboursOf(
  client: RunyardClient,
  baseId: string | undefined,
  chunk: FoundChunk,
  signal: AbortSignal,
): Promise<Neighbours> {
  const number = numberOf(chunk);
  if (number === undefined) return { before: undefined, after: undefined };
  const { data } = await client.knowledge.search(
    {
      query: chunk.content,
      ...inBase(baseId),
      search_type: 'vector',
      filters: [...sameDocument(chunk), { op: 'IN', key: 'chunk', values: [number - 1, number + 1] }],
      max_results: mostLooked,
      meta: { page: 1, limit: mostLooked },
    },
    { signal },
  );
  const own = data.filter(({ content_id }) => content_id === chunk.content_id);
  const numbered = (wanted: number) => own.find((one) => numberOf(one) === wanted)?.content;
  return { before: numbered(number - 1), after: numbered(number + 1) };
}

/** What differs from chunk to chunk, or is no metadata of the document. */
const ofTheChunk = new Set(['chunk', 'chunk_size', 'similarity_score', 'reranking_score']);

function sameDocument({ meta_data }: FoundChunk): readonly object[] {
  return Object.entries(meta_data ?? {})
    .filter(([key, value]) => !ofTheChunk.has(key) && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([key, value]) => ({ op: 'EQ', key, value }));
}

function numberOf({ meta_data }: FoundChunk): number | undefined {
  const number = meta_data?.chunk;
  return typeof number === 'number' ? number : undefined;
}

/** Where a chunk stands, in words. */
export function placeOf({ meta_data }: FoundChunk): string {
  const part = (key: string, label: string) => {
    const value = meta_data?.[key];
    return typeof value === 'number' || typeof value === 'string' ? `${label} ${value}` : '';
  };
  const parts = [
    part('sheet_name', 'sheet'),
    part('page', 'page'),
    part('slide', 'slide'),
    part('row_number', 'row'),
  ];
  return [...parts, part('chunk', 'chunk')].filter(Boolean).join(' · ');
}

/** The scores of a chunk, the one that decided the order first. */
export function scoresOf({ meta_data, reranking_score }: FoundChunk): readonly (readonly [string, number])[] {
  const similarity = meta_data?.similarity_score;
  return [
    ...(reranking_score === null ? [] : [['reranking', reranking_score] as const]),
    ...(typeof similarity === 'number' ? [['similarity', similarity] as const] : []),
  ];
}
