/** How much the first places count against the later ones: the usual constant of reciprocal rank fusion. */
const k = 60;

/** Fuses ranked lists of ids: each place in a list is worth 1 / (60 + place). Returns the score of each id. */
export function fuseRanks<Id>(lists: readonly (readonly Id[])[]): Map<Id, number> {
  const scores = new Map<Id, number>();
  for (const list of lists)
    for (const [index, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (k + index + 1));
  return scores;
}
