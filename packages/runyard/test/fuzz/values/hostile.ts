import type { Random } from '../../chaos/storm/random.js';

/** Texts that have broken other services. None of them looks like what an answer must not give away. */
const texts: readonly string[] = [
  '',
  ' ',
  '\t\n\r',
  '0',
  '-1',
  'null',
  'undefined',
  'NaN',
  'true',
  '[]',
  '{}',
  '{"a":',
  '"',
  "'",
  '\\',
  '`',
  "' OR '1'='1",
  "'; DROP TABLE runs; --",
  '") OR 1=1 --',
  '%',
  '_',
  '%_%\\',
  '*',
  '?',
  '$1',
  '$$',
  ':name',
  '\x24{7*7}',
  '{{7*7}}',
  '{key}',
  '(a+)+$',
  '[',
  '(?<!',
  '.*.*.*x',
  '../../../../etc/passwd',
  '..%2f..%2f',
  'C:\\Windows\\win.ini',
  '.',
  '..',
  '/',
  '//',
  '#',
  '?a=b&c=d',
  '%00',
  '%zz',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '<script>alert(1)</script>',
  'line\r\nset-cookie: a=b',
  'data: x\n\nevent: RunCompleted\ndata: {}\n\n',
  '\u0000',
  'a\u0000b',
  '\u001b[31mred\u001b[0m',
  '\u202egnp.exe',
  '\u2066\u2069',
  '\ufeffbyte order',
  '\u2028\u2029',
  '\ud800',
  '\udc00x',
  'a\ud83d',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈',
  'e\u0301',
  'Z\u0351\u0343\u0343a\u0321\u0321l\u0321g\u0335o\u0336',
  'İıſß',
  '\uffff\ufffe',
  '２０',
  '٣',
  '2026-02-30',
  '9999-12-31T23:59:59.999999999Z',
  '0000-00-00T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '2026-01-31T10:00:00+99:99',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];

const numbers: readonly number[] = [
  ...[0, -0, -1, 1, 2, 0.1, -0.5, 100, 101, 1000, 1001],
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53)],
  ...[2 ** 63, -(2 ** 63), 2 ** 64, 1e21, 8.64e15, 8.64e15 + 1, 1e100, 1e308, -1e308, 5e-324, 253402300800],
];

/** Numbers as texts, some of which no number can hold. */
const numerals: readonly string[] = [
  ...numbers.map(String),
  ...['1e400', '-1e400', '0x10', '1_000', '+1', ' 1 ', '1.0', '1,5', '١', 'Infinity', '-Infinity', '1e3'],
  ...['00', '-0', '9'.repeat(40), `-${'9'.repeat(400)}`],
];

const names = [
  '__proto__',
  'constructor',
  'prototype',
  '',
  'a.b',
  '$ref',
  'toJSON',
  'length',
  'user_id',
  '0',
];

export function hostileText(random: Random): string {
  if (random.chance(0.08)) return hugeText(random);
  if (random.chance(0.15)) return random.pick(texts) + random.pick(texts);
  return random.pick(texts);
}

/** Long, but such that a service may well take it. */
export function hugeText(random: Random): string {
  const length = random.pick([255, 256, 257, 1000, 5001, 70_000]);
  return random.pick(['a', 'é', '👩', '"', '\\', '%', '\u0001', "'"]).repeat(length);
}

export function hostileNumber(random: Random): number {
  return random.pick(numbers);
}

export function hostileNumeral(random: Random): string {
  return random.pick(numerals);
}

/** Anything that JSON can say, up to a depth. */
export function anyJson(random: Random, depth = 3): unknown {
  const kind = random.between(0, depth > 0 ? 7 : 4);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return hostileNumber(random);
  if (kind <= 4) return hostileText(random);
  if (kind === 5) return Array.from({ length: random.between(0, 4) }, () => anyJson(random, depth - 1));
  if (kind === 6 && random.chance(0.1)) return deepJson(random);
  return anyObject(random, depth);
}

export function anyObject(random: Random, depth = 3): Record<string, unknown> {
  const members: [string, unknown][] = Array.from({ length: random.between(0, 4) }, () => [
    random.chance(0.5) ? random.pick(names) : hostileText(random).slice(0, 300),
    anyJson(random, depth - 1),
  ]);
  // fromEntries makes an own member even of __proto__, as a parser of JSON does
  return Object.fromEntries(members);
}

function deepJson(random: Random): unknown {
  const depth = random.pick([20, 101, 600, 1500]);
  const isArray = random.chance(0.5);
  let value: unknown = 0;
  for (let level = 0; level < depth; level++) value = isArray ? [value] : { a: value };
  return value;
}

/** Text that is nearly JSON, or JSON that parsers treat differently. */
export function brokenJson(random: Random): string {
  return random.pick([
    '',
    ' ',
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{"a":1}{"a":2}',
    '{"a":1e400}',
    '{"a":NaN}',
    '{"a":01}',
    '"text"',
    'null',
    '[]',
    '0',
    'true',
    '\ufeff{}',
    '{"__proto__":{"isAdmin":true}}',
    '{"constructor":{"prototype":{"isAdmin":true}}}',
    '{"message":"a","message":"b","memory":"a","memory":"b"}',
    '{"a":"\\ud800"}',
    '{"a":"\u0000"}',
    '['.repeat(20_000),
    '{"a":'.repeat(5000),
    `${'['.repeat(3000)}${']'.repeat(3000)}`,
    `{"a":${'9'.repeat(5000)}}`,
  ]);
}
