import { expect, test } from 'vitest';
import { checkOptions } from './check-options.js';
import {
  anyOf,
  callable,
  count,
  flag,
  having,
  listOf,
  name,
  objectOf,
  recordOf,
  required,
  secret,
  text,
  word,
} from './kinds.js';
import { objectSchema, schema } from './schema-kind.js';

const limits = objectOf<{ turns: number; word?: string }>({
  turns: required(count(1, 9)),
  word: word('few', 'many'),
});
type Optional = 'secret' | 'flag' | 'limits' | 'work' | 'list' | 'record' | 'input' | 'output' | 'store';
const shape = objectOf<{ id: string } & Partial<Record<Optional, unknown>>>(
  {
    id: required(name),
    secret,
    flag,
    limits,
    work: anyOf(callable, limits, listOf(limits)),
    list: listOf(anyOf(text, limits), 1),
    record: recordOf(listOf(limits)),
    input: objectSchema,
    output: schema,
    store: having<{ read(): void; write?(): void }>('a store', { read: required(callable), write: callable }),
  },
  { old: 'flag' },
);

const values = [
  ...[undefined, null, true, 0, 3, 4.5, '', 'few', 'x'.repeat(200), Symbol.iterator],
  ...[[], [undefined], ['a', 1], new Array(2), [{ turns: 1 }], [{ turns: 1 }, { turns: 0 }, { tuns: 2 }]],
  ...[{}, { turns: 2 }, { turns: 2, word: 'none' }, { word: 'few', trns: 3 }, { turns: undefined }],
  ...[{ a: [{ turns: 1 }] }, { a: [{ turns: 1 }], b: [{ turns: 'x' }], c: undefined }, { a: { turns: 1 } }],
  ...[() => {}, new Date(0), new Map(), { read() {} }, { read() {}, write: 1 }, { type: 'string' }],
  ...[
    Object.create(null),
    Object.create({ turns: 1 }),
    Object.defineProperty({ turns: 1 }, 'hidden', { value: 1 }),
  ],
];

const names = ['id', 'secret', 'flag', 'limits', 'work', 'list', 'record', 'input', 'output', 'store'];

function messageOf(options: unknown): string {
  try {
    checkOptions('A test', options, shape);
    return 'accepted';
  } catch (error) {
    return String(error);
  }
}

/** The same options, which are no literal any longer, nor are those inside: each has to be looked at in full. */
function inherited(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, inherited);
  const isLiteral =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!isLiteral) return value;
  const described = Object.entries(Object.getOwnPropertyDescriptors(value)).map(
    ([key, { value: own, ...rest }]) => [key, { ...rest, value: inherited(own) }],
  );
  return Object.create(Object.defineProperties({}, Object.fromEntries(described)));
}

test('options in an ordinary object are accepted and refused with the same text as all others', () => {
  const seen = new Set<string>();
  const compare = (options: object) => {
    const message = messageOf(options);
    expect(message).toBe(messageOf(inherited(options)));
    seen.add(message);
  };
  for (const option of [...names, 'old', 'limit', 'parameters', 'elsewhere'])
    for (const value of values) {
      compare({ [option]: value });
      compare({ id: 'a', [option]: value });
      compare({
        [option]: value,
        flg: value,
        id: 'a',
        list: [value, 'a'],
        limits: { turns: 3, word: value },
      });
    }
  // more than a few texts, and not refused throughout
  expect(seen).toContain('accepted');
  expect(seen.size).toBeGreaterThan(300);
});

test('faults are named in the order of the table, after the options that do not exist', () => {
  expect(messageOf({ list: [{ turns: 0 }], lmits: 1, flag: 'yes', secret: 7 })).toBe(
    [
      'RunyardError: A test: lmits is not an option. Did you mean limits?',
      'A test: id is missing. Give a text that is not empty.',
      'A test: secret is a number. Give a text.',
      "A test: flag is 'yes'. Give true or false.",
      'A test: list[0].turns is 0. Give a whole number from 1 to 9.',
    ].join('\n'),
  );
});

test('an option that an object hides from loops is an option as well', () => {
  const hidden = (key: string, value: unknown) => Object.defineProperty({}, key, { value });
  expect(messageOf(hidden('id', 'a'))).toBe('accepted');
  expect(messageOf(Object.defineProperty({ id: 'a' }, 'flg', { value: true }))).toContain(
    'Did you mean flag?',
  );
});

test('a plain copy holds what options hold, inherit or compute', () => {
  const plain = limits.plain({ turns: 1, word: undefined });
  expect(plain).toStrictEqual({ turns: 1, word: undefined });
  const computed = {
    get turns() {
      return 2;
    },
  };
  expect(limits.plain(computed)).toStrictEqual({ turns: 2 });
  expect(limits.plain(Object.create(computed))).toStrictEqual({ turns: 2 });
});
