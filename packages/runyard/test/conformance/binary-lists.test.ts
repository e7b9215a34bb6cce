import { expect, it, onTestFinished } from 'vitest';
import type { SqlValue } from '../../src/platform/storage/database.js';
import { binaryLists } from '../../src/platform/storage/postgres/binary-lists.js';
import { freshPostgres } from '../support/databases.js';

const types = ['text', 'integer', 'bigint', 'double precision'] as const;

const unnested = {
  name: 'unnested',
  sqlite: '',
  postgres: `SELECT a::text, b::text, c::text, d::text
    FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::double precision[]) AS given (a, b, c, d)`,
};

it('a list of each type arrives as it was given', async () => {
  const database = await (await freshPostgres()).open();
  onTestFinished(() => database.close());
  const rows: SqlValue[][] = [
    ['', 0, 0, 0],
    ['{"a": "\\"b\\" \\\\ ü 漢 😀 , {} NULL"}', 2 ** 31 - 1, Number.MAX_SAFE_INTEGER, 0.1],
    [null, null, null, null],
    ['nul \0 and half \ud83d', -(2 ** 31), Number.MIN_SAFE_INTEGER, -1e300],
    ['\u0001marked\n\t', -1, -1, 5e-324],
    ['x'.repeat(100_000), 1, 2 ** 32, 1],
  ];
  const read = await database.read<Record<string, string | null>>(unnested, binaryLists([{ types, rows }]));
  const numbered = read.map(({ a, b, c, d }) => [a, ...[b, c, d].map((value) => value && Number(value))]);
  expect(numbered).toEqual(rows);
});

it('a number that a column cannot hold is refused', () => {
  for (const [type, value] of [
    ['integer', 1.5],
    ['integer', 2 ** 31],
    ['bigint', 1e300],
    ['bigint', Number.NaN],
  ] as const)
    expect(() => binaryLists([{ types: [type], rows: [[value]] }])).toThrow();
});
