/**
 * How often a chunk has a term, as far as the index knows: a level means at least so often. The index has an entry for
 * each level, because a full-text index says which chunks have a term and not how often.
 */
export const termLevels = [1, 2, 4] as const;

export function levelsOf(count: number): number {
  return termLevels.filter((level) => count >= level).length;
}

/** BM25 over levels. */
const saturation = 1.2;
const lengthWeight = 0.75;

/** How much a term says: the rarer, the more. */
export function weightOfTerm(chunksWithTerm: number, chunks: number): number {
  return Math.log(1 + (Math.max(0, chunks - chunksWithTerm) + 0.5) / (chunksWithTerm + 0.5));
}

export function termScore(weight: number, count: number, length: number, averageLength: number): number {
  const relative = 1 - lengthWeight + lengthWeight * (length / Math.max(1, averageLength));
  return (weight * count * (saturation + 1)) / (count + saturation * relative);
}
