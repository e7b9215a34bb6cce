/** Longer than any name: comparing it would take long. */
const longestName = 100;

/** The known name that was probably meant, if one is near enough. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > longestName) return undefined;
  let best: string | undefined;
  // two letters make another word of a short one
  let bestDistance = Math.max(given.length < 5 ? 1 : 2, Math.floor(given.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(given.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How many letters have to be inserted, removed, replaced or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  // each row has a cost for every column
  const cost = (row: readonly number[], column: number) => row[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        cost(previous, column) + 1,
        cost(current, column - 1) + 1,
        cost(previous, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        least = Math.min(least, cost(beforePrevious, column - 2) + 1);
      }
      current.push(least);
    }
    beforePrevious = previous;
    previous = current;
  }
  return cost(previous, to.length);
}
