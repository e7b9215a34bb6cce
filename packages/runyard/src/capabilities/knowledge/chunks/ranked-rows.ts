import { similarityOf } from '../../../core/knowledge/search/bit-vectors.js';
import { fuseRanks } from '../../../core/knowledge/search/rank-fusion.js';
import { chunkIdOf, positionOf, versionOf } from './row-ids.js';
import type { SearchStore } from './search-store.js';

export interface ScoredRow {
  readonly rowId: number;
  /** The id of the chunk. */
  readonly id: string;
  readonly score: number;
  readonly similarity: number | undefined;
}

/** The rows with the best scores; of equal scores, the chunk with the smaller id. Rows that are gone are left out. */
export async function rankedRows(
  store: SearchStore,
  knowledgeId: string,
  scores: ReadonlyMap<number, number>,
  wanted: number,
): Promise<readonly ScoredRow[]> {
  const best = [...scores].sort(([, one], [, other]) => other - one);
  const last = best[wanted - 1]?.[1] ?? Number.NEGATIVE_INFINITY;
  // all with the last score: which of them are first their ids decide
  const candidates = best.filter(([, score]) => score >= last);
  const contents = await store.contents(new Set(candidates.map(([rowId]) => versionOf(rowId))));
  return candidates
    .flatMap(([rowId, score]) => {
      const contentId = contents.get(versionOf(rowId));
      if (contentId === undefined) return [];
      return {
        rowId,
        id: chunkIdOf(knowledgeId, contentId, positionOf(rowId)),
        score,
        similarity: undefined,
      };
    })
    .sort(byScore)
    .slice(0, wanted);
}

/** Both lists in one order, by reciprocal rank fusion, each row with the similarity of its vector. */
export async function fusedRows(
  store: SearchStore,
  vector: Float32Array,
  byVector: readonly ScoredRow[],
  byWords: readonly ScoredRow[],
): Promise<readonly ScoredRow[]> {
  const scores = fuseRanks([byVector, byWords].map((list) => list.map(({ rowId }) => rowId)));
  const rows = new Map([...byWords, ...byVector].map((row) => [row.rowId, row]));
  const unknown = [...rows.values()].flatMap(({ rowId, similarity }) =>
    similarity === undefined ? rowId : [],
  );
  const vectors = await store.vectors(unknown, vector.length);
  return [...rows.values()]
    .map((row) => {
      const stored = vectors.get(row.rowId);
      const similarity = row.similarity ?? (stored && similarityOf(vector, stored));
      return { ...row, score: scores.get(row.rowId) ?? 0, similarity };
    })
    .sort(byScore);
}

function byScore(one: ScoredRow, other: ScoredRow): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}
