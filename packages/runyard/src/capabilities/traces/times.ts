/** A time as the wire shows it: ISO 8601 in UTC, with microseconds unless they are zero. */
export function wireTime(milliseconds: number): string {
  const text = new Date(milliseconds).toISOString();
  return milliseconds % 1000 === 0 ? `${text.slice(0, 19)}Z` : `${text.slice(0, -1)}000Z`;
}

/** How long something took: whole milliseconds below a second, seconds with two decimals above. */
export function durationText(milliseconds: number): string {
  const whole = Math.max(0, Math.round(milliseconds));
  return whole < 1000 ? `${whole}ms` : `${(whole / 1000).toFixed(2)}s`;
}

// an unencoded plus arrives in a query as a space
const form =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|([+ -])(\d{2}):?(\d{2})?)?)?$/i;

/**
 * Reads an ISO 8601 time with any offset; without one it is UTC, and a bare date is its midnight. Answers with
 * milliseconds since the epoch, which may have a fraction, or undefined.
 */
export function parseTime(text: string): number | undefined {
  const match = form.exec(text.trim());
  if (match === null) return undefined;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  if (hour > 23 || minute > 59 || second > 59 || part(10) > 23 || part(11) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // 31 February would be some day in March
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const fraction = Number(`0.${match[7] ?? '0'}`) * 1000;
  const offset = (part(10) * 60 + part(11)) * 60_000 * (match[9] === '-' ? -1 : 1);
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - offset;
}
