import { z } from 'zod';
import type { Fault } from '../../platform/http/request/validation.js';
import { dayMs, dayOf } from './day.js';

/** Numbers above it are milliseconds, below it seconds: both are meant within the next centuries. */
const secondsUntil = 20_000_000_000;

const inexact: Fault = {
  type: 'date_from_datetime_inexact',
  msg: 'Datetimes provided to dates should have zero time - e.g. be exact dates',
};

/** A day of a query, as days since 1970: `YYYY-MM-DD`, or a time that is midnight UTC. */
export function dateField() {
  return z
    .string()
    .transform((text, payload): number => {
      const read = readDay(text.trim());
      if (typeof read === 'number') return read;
      payload.issues.push({ code: 'custom', input: text, message: read.msg, params: { fault: read } });
      return z.NEVER;
    })
    .meta({ type: 'string', format: 'date' });
}

function readDay(text: string): number | Fault {
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return exactDay(epochOf(Number(text)));
  const parts = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt _](.+))?$/.exec(text);
  if (parts === null) return unreadable(text.length < 10 ? 'input is too short' : 'invalid characters');
  const [, year, month, day, time] = parts;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (Number(month) < 1 || Number(month) > 12)
    return unreadable('month value is outside expected range of 1-12');
  if (new Date(date).getUTCDate() !== Number(day)) return unreadable('day value is outside expected range');
  return time === undefined ? dayOf(date) : dayAt(date, time);
}

function epochOf(value: number): number {
  return Math.abs(value) > secondsUntil ? value : value * 1000;
}

function dayAt(date: number, time: string): number | Fault {
  const parts = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d{2}):?(\d{2}))?$/.exec(time);
  if (parts === null) return unreadable('invalid time');
  const [, hours, minutes, seconds = '0', fraction = '0', sign, offsetHours = '0', offsetMinutes = '0'] =
    parts;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return unreadable('invalid time');
  // midnight of another zone is no midnight UTC
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const clock =
    (Number(hours) * 60 + Number(minutes) - offset) * 60 + Number(seconds) + Number(`0.${fraction}`);
  return exactDay(date + clock * 1000);
}

function exactDay(time: number): number | Fault {
  return time % dayMs === 0 ? dayOf(time) : inexact;
}

function unreadable(error: string): Fault {
  return {
    type: 'date_from_datetime_parsing',
    msg: `Input should be a valid date or datetime, ${error}`,
    ctx: { error },
  };
}
