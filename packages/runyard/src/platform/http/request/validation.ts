import { z } from 'zod';
import type { ValidationItem } from '../../../core/errors/errors.js';
import { fieldsOf } from '../../../core/objects.js';
import { schemaOfGiven } from './given-fields.js';

/** Which part of a request is checked; the first element of a fault's location. */
export type RequestPart = 'path' | 'query' | 'header' | 'body';

/** What a field helper puts into a custom issue, so that the wire shows the contract's own type and text. */
export interface Fault {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Record<string, unknown>;
}

export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly items: readonly ValidationItem[] };

const literalMark = 'literal';
const integerMark = 'integer';

/** zod distinguishes these faults from similar ones only while it words them: the wording remembers which it was. */
const parseContext: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: true,
  error: ({ code, inst }) => {
    if (code === 'invalid_value' && inst instanceof z.ZodLiteral) return literalMark;
    if (code === 'invalid_type' && inst instanceof z.ZodNumberFormat) return integerMark;
    return undefined;
  },
};

/** Checks one part of a request and answers with the value, or with the faults in the form of the contract. */
export function validatePart<Schema extends z.ZodType>(
  part: RequestPart,
  schema: Schema,
  value: unknown,
  form = false,
): Validated<z.output<Schema>> {
  // each request has headers that no schema knows
  const narrowed = part === 'header' ? schema : schemaOfGiven(schema, value);
  const plain = narrowed.safeParse(value);
  // the same value that the whole schema gives
  if (plain.success) return { ok: true, value: plain.data as z.output<Schema> };
  // Only a request with faults pays for their description: a parse with a context costs several times more.
  const result = schema.safeParse(value, parseContext);
  if (result.success) return { ok: true, value: result.data };
  const items = result.error.issues.flatMap((issue) => itemsOf(issue, [part], value, form));
  return { ok: false, items };
}

type Location = readonly (string | number)[];

function itemsOf(issue: z.core.$ZodIssue, prefix: Location, root: unknown, form: boolean): ValidationItem[] {
  const loc = [...prefix, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      type: 'extra_forbidden',
      loc: [...loc, key],
      msg: 'Extra inputs are not permitted',
      input: shown(fieldsOf(issue.input)[key]),
    }));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branches = issue.errors.flat().flatMap((inner) => itemsOf(inner, loc, issue.input, form));
    return distinct(branches);
  }
  const missing = issue.input === undefined && issue.code !== 'custom';
  if (missing) {
    const enclosing = form || issue.path.length === 0 ? null : at(root, issue.path.slice(0, -1));
    return [{ type: 'missing', loc, msg: 'Field required', input: shown(enclosing) }];
  }
  const fault = faultOf(issue);
  return [
    {
      type: fault.type,
      loc,
      msg: fault.msg,
      input: shown(issue.input),
      ...(fault.ctx ? { ctx: fault.ctx } : undefined),
    },
  ];
}

function faultOf(issue: z.core.$ZodIssue): Fault {
  switch (issue.code) {
    case 'invalid_type':
      return typeFault(issue.message === integerMark ? 'int' : issue.expected, issue);
    case 'too_big':
      return tooBig(issue);
    case 'too_small':
      return tooSmall(issue);
    case 'invalid_format':
      return formatFault(issue);
    case 'invalid_value': {
      const expected = alternatives(issue.values);
      const type = issue.message === literalMark ? 'literal_error' : 'enum';
      return { type, msg: `Input should be ${expected}`, ctx: { expected } };
    }
    case 'custom':
      // only `report` of fields.ts puts it there
      return (issue.params?.fault as Fault | undefined) ?? valueError(issue.message);
    default:
      return valueError(issue.message);
  }
}

/** The contract's form for a rule of our own. */
export function valueError(text: string): Fault {
  return { type: 'value_error', msg: `Value error, ${text}`, ctx: { error: {} } };
}

const typeFaults: Readonly<Record<string, Fault>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  null: { type: 'none_required', msg: 'Input should be None' },
};

/** A text where a number or a boolean is wanted. */
const textFaults: Readonly<Record<string, Fault>> = {
  int: {
    type: 'int_parsing',
    msg: 'Input should be a valid integer, unable to parse string as an integer',
  },
  boolean: { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' },
};

function typeFault(expected: string, { path, input }: z.core.$ZodIssue): Fault {
  const textFault = Object.hasOwn(textFaults, expected) ? textFaults[expected] : undefined;
  if (typeof input === 'string' && textFault !== undefined) return textFault;
  if (path.length === 0 && (expected === 'object' || expected === 'record')) {
    return {
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
    };
  }
  return typeFaults[expected] ?? valueError(`expected ${expected}`);
}

function tooBig(issue: z.core.$ZodIssueTooBig): Fault {
  const bound = Number(issue.maximum);
  if (issue.origin === 'string') {
    return {
      type: 'string_too_long',
      msg: `String should have at most ${count(bound, 'character')}`,
      ctx: { max_length: bound },
    };
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    return {
      type: 'too_long',
      msg: `List should have at most ${count(bound, 'item')}${notSoMany(issue.input)}`,
      ctx: { max_length: bound },
    };
  }
  if (issue.inclusive === false) {
    return { type: 'less_than', msg: `Input should be less than ${bound}`, ctx: { lt: bound } };
  }
  return {
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${bound}`,
    ctx: { le: bound },
  };
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): Fault {
  const bound = Number(issue.minimum);
  if (issue.origin === 'string') {
    return {
      type: 'string_too_short',
      msg: `String should have at least ${count(bound, 'character')}`,
      ctx: { min_length: bound },
    };
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    return {
      type: 'too_short',
      msg: `List should have at least ${count(bound, 'item')}${notSoMany(issue.input)}`,
      ctx: { min_length: bound },
    };
  }
  if (issue.inclusive === false) {
    return { type: 'greater_than', msg: `Input should be greater than ${bound}`, ctx: { gt: bound } };
  }
  return {
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${bound}`,
    ctx: { ge: bound },
  };
}

function formatFault(issue: z.core.$ZodIssueInvalidStringFormat): Fault {
  if (issue.format !== 'regex') return valueError(`this is not a valid ${issue.format}`);
  const pattern = (issue.pattern ?? '').replace(/^\/(.*)\/[a-z]*$/s, '$1');
  return {
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern },
  };
}

function alternatives(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** How many there are instead, in the words of the contract. */
function notSoMany(list: unknown): string {
  return Array.isArray(list) ? ` after validation, not ${list.length}` : '';
}

function count(bound: number, thing: string): string {
  return `${bound} ${thing}${bound === 1 ? '' : 's'}`;
}

function at(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) value = value == null ? undefined : Object(value)[key];
  return value;
}

const shownCharacters = 1_000;

/** What was sent, as the fault shows it: enough to recognise, never a megabyte of it. */
function shown(input: unknown): unknown {
  if (input === undefined) return null;
  if (typeof input !== 'string' || input.length <= shownCharacters) return input;
  return `${input.slice(0, shownCharacters)}…`;
}

function distinct(items: readonly ValidationItem[]): ValidationItem[] {
  const seen = new Map(items.map((item) => [`${item.type} ${item.loc.join('\n')} ${item.msg}`, item]));
  return [...seen.values()];
}
