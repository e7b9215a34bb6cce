/** A cron expression that was checked. */
export interface CronExpression {
  /** The five fields with numbers in the place of names, as croner reads them. */
  readonly fields: string;
  /**
   * How a change of the clock affects it. `every`: it keeps its rhythm, because every hour has its ticks. `stepped`:
   * the same, and a step that the clock jumps over is made up for. `fixed`: each wall time occurs once.
   */
  readonly hours: 'every' | 'stepped' | 'fixed';
}

/** Why a text is no cron expression. */
export class InvalidCron extends Error {
  /** `isOurs`: other implementations accept it. */
  constructor(
    reason: string,
    readonly isOurs = false,
  ) {
    super(reason);
  }
}

/** The longest expression. */
export const longestCron = 128;

const aliases: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names?: ReadonlyMap<string, number>;
  /** What the field alone understands. Undefined for a text that is not of that kind. */
  readonly special?: (item: string) => string | undefined;
}

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31, special: specialDay },
  { name: 'month', least: 1, most: 12, names: numbered(months, 1) },
  { name: 'day of the week', least: 0, most: 7, names: numbered(weekdays, 0), special: specialWeekday },
];

/** Checks a cron expression. Throws `InvalidCron`. */
export function parseCron(text: string): CronExpression {
  if (text.length > longestCron) throw new InvalidCron(`It has more than ${longestCron} characters.`);
  const trimmed = text.trim();
  const alias = aliases.get(trimmed.toLowerCase());
  if (alias === undefined && trimmed.startsWith('@')) {
    throw new InvalidCron(`The aliases are ${[...aliases.keys()].join(', ')}.`);
  }
  const parts = (alias ?? trimmed).toUpperCase().split(/\s+/);
  if (parts.length > fields.length) {
    throw new InvalidCron(
      `It has ${parts.length} fields. A schedule has 5: minute, hour, day of the month, month, day of the week. ` +
        'Seconds and years are not supported.',
      true,
    );
  }
  if (parts.length < fields.length) {
    throw new InvalidCron(
      `It has ${trimmed === '' ? 0 : parts.length} fields. A schedule has 5: minute, hour, day of the month, month, day of the week.`,
    );
  }
  const read = parts.map((part, index) => readField(part, fields[index]));
  return { fields: read.join(' '), hours: rhythmOf(read[1] ?? '') };
}

function rhythmOf(hours: string): CronExpression['hours'] {
  const items = hours.split(',');
  if (items.some((item) => item === '*' || item === '0-23' || item === '0-23/1')) return 'every';
  return hours.includes('/') ? 'stepped' : 'fixed';
}

function readField(text: string, field: Field | undefined): string {
  if (field === undefined) throw new InvalidCron('It has more than 5 fields.');
  if (text === '?' && field.special !== undefined) return '*';
  const items = text.split(',').map((item) => readItem(item, field));
  // a day field is unrestricted only as a plain star, so that one among others must not restrict it
  return items.includes('*') ? '*' : items.join(',');
}

const itemPattern = /^(?:\*|(?<from>\d{1,2}|[A-Z]{3})(?:-(?<to>\d{1,2}|[A-Z]{3}))?)(?:\/(?<step>\d{1,2}))?$/;

function readItem(item: string, field: Field): string {
  const special = field.special?.(item);
  if (special !== undefined) return special;
  const { from, to, step } = itemPattern.exec(item)?.groups ?? {};
  if (from === undefined && !item.startsWith('*')) throw invalid(item, field);
  const every = step === undefined ? 1 : Number(step);
  if (every < 1 || every > field.most - field.least + 1) throw invalid(item, field);
  if (from === undefined) {
    // the pattern did not match at all
    if (!itemPattern.test(item)) throw invalid(item, field);
    return every === 1 ? '*' : `*/${every}`;
  }
  const first = numberOf(from, field);
  if (to === undefined) {
    if (step !== undefined) throw invalid(item, field);
    return String(first);
  }
  let last = numberOf(to, field);
  // Friday to Sunday ends at the end of the week
  if (field.names?.get('SUN') === 0 && last === 0 && first > 0) last = 7;
  if (first > last) throw invalid(item, field);
  return every === 1 ? `${first}-${last}` : `${first}-${last}/${every}`;
}

function numberOf(text: string, field: Field): number {
  const number = field.names?.get(text) ?? (/^\d+$/.test(text) ? Number(text) : Number.NaN);
  if (!(number >= field.least && number <= field.most)) throw invalid(text, field);
  return number;
}

/** `L`: the last day. `15W`: the weekday nearest to the 15th. */
function specialDay(item: string): string | undefined {
  if (item === 'L') return 'L';
  const [, day] = /^(\d{1,2})W$/.exec(item) ?? [];
  return day !== undefined && Number(day) >= 1 && Number(day) <= 31 ? `${Number(day)}W` : undefined;
}

/** `5#2`: the second Friday of the month. `L5`, or `5L` as others write it: the last one. */
function specialWeekday(item: string): string | undefined {
  const [, day, nth, first, second] = /^(?:([0-7])#([1-5])|L([0-7])|([0-7])L)$/.exec(item) ?? [];
  if (day !== undefined) return `${Number(day) % 7}#${nth}`;
  const last = first ?? second;
  return last === undefined ? undefined : `${Number(last) % 7}#L`;
}

function invalid(item: string, { name, least, most }: Field): InvalidCron {
  return new InvalidCron(`'${item}' is not a valid ${name} (${least}-${most}).`);
}

function numbered(names: readonly string[], first: number): ReadonlyMap<string, number> {
  return new Map(names.map((name, index) => [name, index + first]));
}
