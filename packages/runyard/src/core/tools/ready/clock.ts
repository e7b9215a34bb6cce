import { z } from 'zod';
import { checkOptions } from '../../options/check-options.js';
import { callable, objectOf, timeZone as timeZoneName } from '../../options/kinds.js';
import { type Tool, tool } from '../tool.js';

export interface ClockOptions {
  /** The time zone when the model names none, e.g. `Europe/Paris`. Default: UTC. */
  readonly timeZone?: string;
  /** Where the time comes from, in milliseconds since the epoch. */
  readonly now?: () => number;
}

const clockOptions = objectOf<ClockOptions>({ timeZone: timeZoneName, now: callable });

/** The date and time, now or of a given moment, in any time zone. */
export function clock(options: ClockOptions = {}): Tool {
  checkOptions('clock()', options, clockOptions);
  const { timeZone = 'UTC', now = Date.now } = options;
  return tool({
    name: 'current_time',
    description: `Tell the date and time of now, or of a given moment, in a time zone (${timeZone} when none is given).`,
    inputSchema: z.object({
      time_zone: z
        .string()
        .optional()
        .describe('An IANA time zone, e.g. "Europe/Paris", "America/New_York", "Asia/Tokyo"'),
      at: z
        .string()
        .optional()
        .describe('A moment as ISO 8601 with its offset, e.g. "2026-03-01T09:00:00Z". Left out: now'),
    }),
    readOnly: true,
    execute: ({ time_zone = timeZone, at }) =>
      describeMoment(at === undefined ? now() : moment(at), time_zone),
  });
}

function moment(text: string): number {
  const hasOffset = /(?:z|[+-]\d{2}:?\d{2})$/i.test(text.trim());
  const time = hasOffset ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new Error(
      `'${text.slice(0, 100)}' is not a moment. Give ISO 8601 with an offset, such as 2026-03-01T09:00:00Z.`,
    );
  }
  return time;
}

function describeMoment(time: number, timeZone: string) {
  const parts = Object.fromEntries(
    formatter(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  const offset = parts.timeZoneName?.replace('GMT', '') || '+00:00';
  return {
    time_zone: timeZone,
    date: `${parts.year}-${parts.month}-${parts.day}`,
    time: `${parts.hour}:${parts.minute}:${parts.second}`,
    weekday: parts.weekday,
    utc_offset: offset,
    utc: new Date(time).toISOString(),
  };
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
  } catch {
    throw new Error(
      `There is no time zone '${timeZone.slice(0, 100)}'. Use an IANA name such as Europe/Paris or UTC.`,
    );
  }
}
