/** By code points, as databases order the bytes of UTF-8; JavaScript's own order is that of UTF-16. */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const first = one.charCodeAt(at);
    const second = other.charCodeAt(at);
    if (first === second) continue;
    // surrogates stand for the highest code points
    const isHigh = first >= 0xd800 && first <= 0xdfff;
    const isOtherHigh = second >= 0xd800 && second <= 0xdfff;
    return isHigh === isOtherHigh ? first - second : isHigh ? 1 : -1;
  }
  return one.length - other.length;
}
