import { describe, expect, test } from 'vitest';
import type { Json, JsonSchema } from '../json.js';
import { boundedSchema } from './bounded-schema.js';
import { compileJsonSchema } from './json-schema.js';
import { interpretSchema } from './schema-interpreter.js';

const values: Json[] = [
  null,
  true,
  0,
  3,
  -1.5,
  7,
  '',
  'abc',
  'a😀',
  '2026-11-15',
  '2026-02-30',
  '2026-11-15T10:00:00Z',
  'P1DT2H',
  '123e4567-e89b-12d3-a456-426614174000',
  '10.0.0.1',
  [],
  [1, 'a'],
  [1, 2, 3],
  [1, 1],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  {},
  { a: 1 },
  { a: 'x', b: 2 },
  { a: null, b: [1] },
  { c: { a: { a: 1 } } },
  JSON.parse('{"__proto__":1,"constructor":2}'),
];

const schemas: JsonSchema[] = [
  {},
  { type: 'integer' },
  { type: ['string', 'null'] },
  { type: 'string', nullable: true },
  { enum: [3, 'abc', { b: 2, a: 'x' }, [1, 'a']] },
  { const: { a: 1 } },
  { const: null },
  { minimum: 0, maximum: 5, multipleOf: 1.5 },
  { exclusiveMinimum: 0, exclusiveMaximum: 7 },
  { minLength: 2, maxLength: 2 },
  ...['date', 'time', 'date-time', 'duration', 'uuid', 'ipv4'].map((format) => ({ format })),
  { minItems: 1, maxItems: 2 },
  { uniqueItems: true },
  { items: { type: 'integer' } },
  { items: false },
  { prefixItems: [{ type: 'integer' }, { type: 'string' }], items: false },
  { contains: { const: 1 } },
  { contains: { const: 1 }, minContains: 2, maxContains: 2 },
  { contains: { const: 9 }, minContains: 0 },
  { properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
  { properties: { a: true }, additionalProperties: false },
  { additionalProperties: { type: 'integer' } },
  { required: ['a', 'b'] },
  { minProperties: 1, maxProperties: 1 },
  { propertyNames: { maxLength: 1 } },
  { dependentRequired: { a: ['b'] } },
  { dependentSchemas: { a: { required: ['b'] } } },
  { dependencies: { a: ['b'], b: { properties: { a: { type: 'string' } } } } },
  { not: { type: 'object' } },
  // biome-ignore lint/suspicious/noThenProperty: the keyword’s name
  { if: { type: 'string' }, then: { minLength: 1 }, else: { type: ['array', 'object'] } },
  { allOf: [{ type: 'object' }, { required: ['a'] }] },
  { anyOf: [{ type: 'integer' }, { required: ['a'], type: 'object' }] },
  { oneOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }] },
  {
    type: 'object',
    properties: { c: { $ref: '#' }, a: { $ref: '#/$defs/a' } },
    $defs: { a: { type: ['integer', 'object'] } },
  },
];

test.each(schemas.map((schema) => [schema]))('%j takes what the compiled schema takes', async (schema) => {
  const check = await compileJsonSchema(schema);
  const bounded = boundedSchema(schema);
  for (const value of values) {
    const expected = check(structuredClone(value)).length === 0;
    expect(interpretSchema(bounded, structuredClone(value)).length === 0, JSON.stringify(value)).toBe(
      expected,
    );
  }
});

describe('a fault', () => {
  test.each<[JsonSchema, Json, object]>([
    [
      { properties: { a: { items: { type: 'string' } } } },
      { a: ['x', 3] },
      { path: ['a', 1], message: 'must be string' },
    ],
    [{ required: ['a'] }, {}, { path: ['a'], kind: 'missing', message: 'is required' }],
    [{ additionalProperties: false }, { a: 1 }, { path: ['a'], kind: 'unknown' }],
    [{ enum: ['x', 1] }, 2, { path: [], message: 'must be equal to one of the allowed values: ["x",1]' }],
    [{ anyOf: [{ type: 'string' }, { minimum: 3 }] }, 2, { message: 'must be string' }],
  ])('of %j says where and what', (schema, value, fault) => {
    expect(interpretSchema(schema, value)[0]).toMatchObject(fault);
  });
});

test('values are converted where they say the same, nulls are not', () => {
  const properties = { a: { type: 'integer' }, b: { type: 'boolean' }, c: { type: 'string' } };
  const schema = { properties, required: ['a'] };
  const value: Json = { a: '3', b: 'true', c: 4 };
  expect(interpretSchema(schema, value, { coerce: true })).toEqual([]);
  expect(value).toEqual({ a: 3, b: true, c: '4' });
  for (const a of ['', ' ', '3.5', null, [], 'x'])
    expect(interpretSchema(schema, { a }, { coerce: true })).toHaveLength(1);
});

test('what every object inherits is no property of a value', () => {
  for (const name of ['__proto__', 'toString']) {
    expect(interpretSchema({ required: [name] }, {})).toHaveLength(1);
    expect(
      interpretSchema({ additionalProperties: false, properties: {} }, JSON.parse(`{"${name}":1}`)),
    ).toHaveLength(1);
  }
});

test('a default by the name of a prototype is a property like others', () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"default":{"admin":true}}}}');
  const value: Json = {};
  expect(interpretSchema(boundedSchema(schema), value)).toEqual([]);
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect((value as { admin?: unknown }).admin).toBeUndefined();
});

describe('the work is bounded for', () => {
  const itself = { $ref: '#' };
  const many = (count: number) => Array.from({ length: count }, (_, index) => index);
  function nested(levels: number): Json {
    return levels === 0 ? {} : { a: nested(levels - 1) };
  }

  function lists(levels: number): Json {
    let list: Json[] = [];
    for (let level = 0; level < levels; level++) list = [list];
    return list;
  }

  test.each<[string, JsonSchema, Json]>([
    [
      'alternatives that double with each level',
      { anyOf: [0, 1].map(() => ({ properties: { a: itself }, required: ['a'] })) },
      nested(60),
    ],
    [
      'many checks of many items',
      { items: { allOf: many(900).map(() => ({ not: { type: 'string' } })) } },
      many(100_000),
    ],
    [
      'many properties of many objects',
      {
        items: {
          properties: Object.fromEntries(
            many(500).map((index) => [`p${index}`, { default: 'x'.repeat(50) }]),
          ),
        },
      },
      many(300_000).map(() => ({})),
    ],
    [
      'many lengths of a long text',
      { allOf: many(1_900).map(() => ({ minLength: 1 })) },
      'x'.repeat(900_000),
    ],
    [
      'many long choices',
      { items: { enum: many(900).map((index) => 'x'.repeat(50) + index) } },
      many(100_000).map(() => `${'x'.repeat(50)}899`),
    ],
    [
      'long lists without duplicates, in one another',
      { uniqueItems: true, items: { uniqueItems: true, items: { uniqueItems: true } } },
      many(100).map((one) => many(100).map((two) => many(100).map((three) => [one, two, three]))),
    ],
    [
      'many objects compared with one of many keys',
      { allOf: many(20).map(() => ({ not: { enum: many(1_000).map(() => ({})) } })) },
      Object.fromEntries(many(80_000).map((index) => [index, 1])),
    ],
    [
      'many types of many items',
      { items: { type: [...many(5_000).map(() => 'string'), 'number'] } },
      many(300_000),
    ],
    ['a deep list without duplicates', { uniqueItems: true }, lists(100_000)],
    ['a deep constant', { const: lists(2_000) }, lists(2_000)],
  ])('%s', (_what, schema, value) => {
    expect(interpretSchema(boundedSchema(schema), value)).toEqual([
      { path: [], kind: 'unfit', message: 'takes too many checks against this schema' },
    ]);
  });
});

test('no default of an alternative is written: another one may match', () => {
  const withDefault = (name: string) => ({ properties: { [name]: { default: 1 } } });
  const value: Json = {};
  const schema = {
    anyOf: [{ ...withDefault('a'), required: ['b'] }, {}],
    not: { ...withDefault('c'), type: 'array' },
  };
  expect(interpretSchema(schema, value)).toEqual([]);
  expect(value).toEqual({});
});

test('null means an absent property only where it is not required', () => {
  const schema = { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] };
  const faults = (value: Json) => interpretSchema(schema, value, { nullableOptionals: true });
  expect(faults({ a: 'x', b: null })).toEqual([]);
  expect(faults({ a: null, b: 'x' })).toHaveLength(1);
});
