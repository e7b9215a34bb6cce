/** Formats are expensive to make; a service knows few zones, whatever its callers try. */
const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 200;

/** Whether a text names a time zone of the IANA database, in any case. Offsets such as `+02:00` name none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(name) || name.length > 64) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * A wall time as a number: the milliseconds since the epoch that the same date and time would have in UTC. So wall
 * times are ordered, and calendars compute with them without knowing zones.
 */
export type WallTime = number;

/** What the clocks of a zone show at an instant, to the second. */
export function wallTimeAt(zone: string, instant: number): WallTime {
  const whole = Math.floor(instant / 1000) * 1000;
  if (zone === 'UTC') return whole;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(whole)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function offsetAt(zone: string, instant: number): number {
  return wallTimeAt(zone, instant) - Math.floor(instant / 1000) * 1000;
}

/** When the clocks of a zone show a wall time. */
export type Instants =
  /** Once, or twice: in the hour that is repeated when the clocks go back. */
  | { readonly kind: 'real'; readonly first: number; readonly last: number }
  /** Never: the clocks jump over it, and this is the first instant after the jump. */
  | { readonly kind: 'gap'; readonly after: number };

/** No zone changes its clocks twice within this time, and none by more: a zone that moves across the date line leaves a day out. */
const nearMs = 30 * 3_600_000;

export function instantsOf(zone: string, wall: WallTime): Instants {
  if (zone === 'UTC') return { kind: 'real', first: wall, last: wall };
  const near = wall - offsetAt(zone, wall);
  const before = offsetAt(zone, near - nearMs);
  const after = offsetAt(zone, near + nearMs);
  const candidates = before === after ? [before] : [before, after];
  const real = candidates.map((offset) => wall - offset).filter((at) => wallTimeAt(zone, at) === wall);
  if (real.length === 0) return { kind: 'gap', after: changeBetween(zone, near - nearMs, near + nearMs) };
  return { kind: 'real', first: Math.min(...real), last: Math.max(...real) };
}

/** The instant at which the clocks of the zone change, to the second. */
function changeBetween(zone: string, from: number, until: number): number {
  const offset = offsetAt(zone, from);
  let [before, after] = [Math.floor(from / 1000), Math.ceil(until / 1000)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(zone, middle * 1000) === offset) before = middle;
    else after = middle;
  }
  return after * 1000;
}

/** Throws a RangeError for a zone that does not exist. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const [oldest] = formats.size >= mostFormats ? formats.keys() : [];
  if (oldest !== undefined) formats.delete(oldest);
  formats.set(zone, format);
  return format;
}
