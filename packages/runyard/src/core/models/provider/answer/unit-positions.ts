/**
 * OpenAI counts characters, and the content is counted in UTF-16 units: a character beyond the first 65,536 has two.
 * The text is looked at once, however many positions are asked for.
 */
export function unitsIn(text: string): (characters: number) => number {
  /** Which characters have two units, by their number. */
  const wide: number[] = [];
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    wide.push(at - wide.length);
    at += 1;
  }
  return (characters) => Math.min(Math.max(characters + countBelow(wide, characters), 0), text.length);
}

/** How many of the sorted numbers are below the bound. */
function countBelow(sorted: readonly number[], bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    // the middle of a part of the list is in the list
    if (sorted[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
