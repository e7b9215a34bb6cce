/**
 * The largest p-value that is accepted when many are tested (Benjamini and Hochberg): of what is called significant, no
 * larger share than the level is expected to be chance. -1 when none is accepted.
 */
export function largestAccepted(pValues: readonly number[], level: number): number {
  const sorted = Float64Array.from(pValues).sort();
  for (let count = sorted.length; count > 0; count--) {
    // the types allow for positions that a list does not have
    const pValue = sorted[count - 1] ?? 1;
    if (pValue <= (count / sorted.length) * level) return pValue;
  }
  return -1;
}
