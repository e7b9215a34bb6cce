import { Cron } from 'croner';
import { toString as inWords } from 'cronstrue';

const aliases: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** An expression in words, such as "At 03:00, Monday through Friday". As it is, if it has none. */
export function cronInWords(expression: string): string {
  try {
    const words = inWords(fieldsOf(expression), { use24HourTimeFormat: true, verbose: false });
    return /^At [\d:]+$/.test(words) ? `Every day at ${words.slice(3)}` : words;
  } catch {
    return expression;
  }
}

export type Preview =
  | { readonly ticks: readonly Date[]; readonly fault?: undefined }
  | { readonly ticks?: undefined; readonly fault: string };

/** The next ticks, or why there are none. The service decides: this is what a person sees before it does. */
export function nextTicks(expression: string, timezone: string, count: number): Preview {
  if (expression.trim() === '') return { ticks: [] };
  try {
    const ticks = new Cron(fieldsOf(expression), { timezone, mode: '5-part', paused: true }).nextRuns(count);
    return ticks.length === 0 ? { fault: 'This date never comes.' } : { ticks };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: reason.replace(/^CronPattern: /, '') };
  }
}

function fieldsOf(expression: string): string {
  const trimmed = expression.trim();
  return aliases[trimmed.toLowerCase()] ?? trimmed;
}

/** The zone of the reader. */
export const readersZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const inReadersZone = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** A tick in the reader's zone: "Mon, 23 Nov, 03:00". */
export function tickText(at: Date): string {
  return inReadersZone.format(at);
}

/** All zones that the browser knows, for a list of suggestions. */
export const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];
