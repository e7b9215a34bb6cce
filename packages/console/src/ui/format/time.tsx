import { useNow } from './clock.js';

/** As the service gives it: a text of ISO 8601, or seconds since 1970. */
export type Moment = string | number;

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago it was, with the time in the reader's zone. */
export function Time({
  at,
  style = 'relative',
}: {
  readonly at: Moment | null | undefined;
  readonly style?: 'relative' | 'absolute';
}) {
  const now = useNow();
  const date = at === null || at === undefined ? undefined : dateOf(at);
  if (date === undefined) return <span className="text-muted">–</span>;
  const full = absolute.format(date);
  return (
    <time dateTime={date.toISOString()} title={full} className="whitespace-nowrap">
      {style === 'absolute' ? full : relativeTime(date.getTime(), now)}
    </time>
  );
}

function dateOf(at: Moment): Date | undefined {
  const date = new Date(typeof at === 'number' ? at * 1_000 : at);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function relativeTime(at: number, now: number): string {
  const seconds = (at - now) / 1_000;
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  if (unit === undefined) return 'now';
  return relative.format(Math.round(seconds / unit[1]), unit[0]);
}
