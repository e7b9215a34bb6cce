import { fieldsOf } from '../objects.js';
import {
  check,
  fits,
  inWords,
  isObject,
  isWhole,
  type RenamedOptions,
  unknownOption,
  within,
} from './faults.js';
import type { Kind, ObjectKind, Optional, Required, Shape } from './kind.js';
import { isLiteral, optionNames } from './option-names.js';

export function kind(allowed: string, takes: (value: unknown) => boolean): Optional {
  return { allowed, takes };
}

export function required(of: Kind): Required {
  return { ...of, required: true };
}

/** The longest time that a timer of the platform can wait: almost 25 days. */
export const longestTimeMs = 2_147_483_647;

export const text = kind('a text', (value) => typeof value === 'string');
export const name = kind(
  'a text that is not empty',
  (value) => typeof value === 'string' && value.trim() !== '',
);
export const secret: Optional = { ...text, secret: true };
export const timeZone = kind("the name of a time zone such as 'Europe/Paris'", isTimeZone);
export const flag = kind('true or false', (value) => typeof value === 'boolean');
export const callable = kind('a function', (value) => typeof value === 'function');
export const anything = kind('a value', () => true);
export const none = kind('null', (value) => value === null);
export const signal = kind('an AbortSignal', (value) => value instanceof AbortSignal);
export const promise = kind('a promise', (value) => typeof fieldsOf(value).then === 'function');
/** What it holds is checked where it is stored. */
export const json = kind('an object', isObject);

export function count(least: number, most = Number.MAX_SAFE_INTEGER): Optional {
  const range =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number, ${least} or more`
      : `a whole number from ${least} to ${most}`;
  return kind(range, (value) => isWhole(value) && value >= least && value <= most);
}

export function milliseconds(least: number, most = longestTimeMs): Optional {
  return kind(
    most === Number.MAX_SAFE_INTEGER
      ? `whole milliseconds, ${least} or more`
      : `whole milliseconds from ${least} to ${most}`,
    (value) => isWhole(value) && value >= least && value <= most,
  );
}

/** A number that may have a fraction. */
export function amount(allowed: string, fits: (value: number) => boolean): Optional {
  return kind(allowed, (value) => typeof value === 'number' && Number.isFinite(value) && fits(value));
}

export function word(...words: readonly string[]): Optional {
  return kind(
    inWords(words.map((one) => `'${one}'`)),
    (value) => typeof value === 'string' && words.includes(value),
  );
}

export const error = kind(
  'an error',
  // one of another realm, such as that of a test, is an instance of another class
  (value) => value instanceof Error || Object.prototype.toString.call(value) === '[object Error]',
);

export function instanceOf(type: abstract new (...args: never[]) => unknown, allowed: string): Optional {
  return kind(allowed, (value) => value instanceof type);
}

export function anyOf(...kinds: readonly Kind[]): Optional {
  return {
    allowed: inWords(kinds.map(({ allowed }) => allowed)),
    takes: (value) => thatTakes(kinds, value) !== undefined,
    inside: (value, path, faults) => thatTakes(kinds, value)?.inside?.(value, path, faults),
  };
}

function thatTakes(kinds: readonly Kind[], value: unknown): Kind | undefined {
  for (const one of kinds) if (one.takes(value)) return one;
  return undefined;
}

export function listOf(of: Kind, least = 0): Optional {
  return {
    allowed: least === 0 ? 'a list' : 'a list with at least one entry',
    takes: (value) => Array.isArray(value) && value.length >= least,
    inside: (list: readonly unknown[], path, faults) => {
      let position = 0;
      for (const value of list) {
        if (!fits(of, value)) check(of, value, `${path}[${position}]`, faults);
        position += 1;
      }
    },
  };
}

/** An object whose keys are the application's own. */
export function recordOf(of: Kind): Optional {
  return {
    allowed: 'an object',
    takes: isObject,
    inside: (record: Readonly<Record<string, unknown>>, path, faults) => {
      for (const key in record)
        if (record[key] !== undefined) check(of, record[key], within(path, key), faults);
    },
  };
}

/** An object with these options and no others. What it inherits counts as its own, since it is read like that. */
export function objectOf<Options extends object>(
  shape: Shape<Options>,
  renamed: RenamedOptions = {},
): ObjectKind {
  const known = new Map<string, Kind>(Object.entries<Kind>(shape));
  const requiredCount = [...known.values()].filter((of) => of.required).length;
  /** Looks at the options that are given, not at the many that are not. False: whether there is a fault is not known. */
  const allFit = (options: Readonly<Record<string, unknown>>) => {
    if (!isLiteral(options)) return false;
    let missing = requiredCount;
    for (const key in options) {
      const value = options[key];
      if (value === undefined) continue;
      const of = known.get(key);
      if (of === undefined || !fits(of, value)) return false;
      if (of.required) missing -= 1;
    }
    return missing === 0;
  };
  return {
    plain: <Given extends object>(options: Given) => {
      if (isLiteral(options)) return { ...options };
      const fields = fieldsOf(options);
      // these are the fields of Given, wherever it had them from
      return Object.fromEntries(optionNames(options, known).map((key) => [key, fields[key]])) as Given;
    },
    allowed: 'an object',
    takes: isObject,
    inside: (options: Readonly<Record<string, unknown>>, path, faults) => {
      if (allFit(options)) return;
      for (const key of optionNames(options, known)) {
        if (options[key] !== undefined && !known.has(key))
          faults.push(unknownOption(within(path, key), key, [...known.keys()], renamed));
      }
      for (const [key, of] of known) {
        const value = options[key];
        if (value !== undefined) check(of, value, within(path, key), faults);
        else if (of.required) faults.push(`${within(path, key)} is missing. Give ${of.allowed}.`);
      }
    },
  };
}

/** Something that implements an interface: it has these members, and may have others of its own. */
export function having<Members extends object>(allowed: string, shape: Shape<Members>): Optional {
  const kinds = Object.entries<Kind>(shape);
  return kind(allowed, (value) => typeof value === 'object' && value !== null && hasAll(value, kinds));
}

function hasAll(value: object, kinds: readonly (readonly [string, Kind])[]): boolean {
  const fields = fieldsOf(value);
  for (const [key, of] of kinds) {
    const member = fields[key];
    if (member === undefined ? of.required : !of.takes(member)) return false;
  }
  return true;
}

function isTimeZone(value: unknown): boolean {
  try {
    return typeof value === 'string' && new Intl.DateTimeFormat('en', { timeZone: value }) !== undefined;
  } catch {
    return false;
  }
}
