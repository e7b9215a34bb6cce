/** How much work a comparison may still be: each pair of items costs one. */
export interface Budget {
  left: number;
}

/** Positions that belong together; undefined where the other sequence has nothing. */
export type Pair = readonly [before: number | undefined, after: number | undefined];

/**
 * The positions of items that belong together: a longest sequence of the same identities. Where the budget does not
 * suffice, those at the same position.
 */
export function pairs(before: readonly string[], after: readonly string[], budget: Budget): Pair[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const isSame = () => before[before.length - 1 - end] === after[after.length - 1 - end];
  while (end < Math.min(before.length, after.length) - start && isSame()) end += 1;
  const between = middle(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
    budget,
  ).map(([one, other]): Pair => [shifted(one, start), shifted(other, start)]);
  const same = (count: number, from: number, to: number) =>
    Array.from({ length: count }, (_, index): Pair => [from + index, to + index]);
  return [...same(start, 0, 0), ...between, ...same(end, before.length - end, after.length - end)];
}

function shifted(position: number | undefined, by: number): number | undefined {
  return position === undefined ? undefined : position + by;
}

function middle(before: readonly string[], after: readonly string[], budget: Budget): Pair[] {
  const width = after.length + 1;
  const work = before.length * after.length;
  if (work > budget.left) {
    const longest = Math.max(before.length, after.length);
    return Array.from(
      { length: longest },
      (_, index): Pair => [
        index < before.length ? index : undefined,
        index < after.length ? index : undefined,
      ],
    );
  }
  budget.left -= work;
  // numbers are compared faster than texts
  const numbers = new Map<string, number>();
  const numbered = (items: readonly string[]) =>
    Uint32Array.from(items, (item) => {
      const number = numbers.get(item) ?? numbers.size;
      numbers.set(item, number);
      return number;
    });
  const [old, fresh] = [numbered(before), numbered(after)];
  // lengths[i * width + j]: the longest common sequence of what follows the positions i and j
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === fresh[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: Pair[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column])
      found.push([row++, column++]);
    else if (row < before.length && at(row + 1, column) >= at(row, column + 1))
      found.push([row++, undefined]);
    else if (column < after.length) found.push([undefined, column++]);
    else found.push([row++, undefined]);
  }
  return found;
}
