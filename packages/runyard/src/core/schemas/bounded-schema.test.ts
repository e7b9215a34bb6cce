import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonSchema } from '../json.js';
import { boundedSchema } from './bounded-schema.js';
import { interpretSchema } from './schema-interpreter.js';

function many(count: number, make: (index: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));
}

/** A row of definitions, each made with a reference to the next one. */
function row(count: number, make: (next: JsonSchema) => JsonSchema): JsonSchema {
  const $defs = many(count, (index) =>
    index === count - 1 ? { type: 'object' } : make({ $ref: `#/$defs/p${index + 1}` }),
  );
  return { $ref: '#/$defs/p0', $defs };
}

function nested(levels: number): JsonSchema {
  let schema: JsonSchema = {};
  for (let level = 1; level < levels; level++) schema = { items: schema };
  return schema;
}

describe('refuses', () => {
  const itself = { $ref: '#' };
  test.each<[string, JsonSchema, string]>([
    ['too many characters', { description: 'x'.repeat(65_536) }, 'characters, at most 65536'],
    [
      'too many schemas',
      { items: { anyOf: Array.from({ length: 2_000 }, () => ({})) } },
      'than 2000 schemas',
    ],
    ['too many levels', nested(33), 'deeper than 32'],
    [
      'too many properties',
      { items: { properties: many(501, () => true) } },
      '#/items/properties: 501 names',
    ],
    ['too many required names', { required: Object.keys(many(501, () => 1)) }, '#/required: 501 names'],
    ['too many choices', { enum: Object.keys(many(1_001, () => 1)) }, '#/enum: 1001 choices'],
    ['a row of too many references', row(501, (next) => ({ allOf: [next] })), 'than 300 schemas lead'],
    ['a reference into a literal', { default: { x: {} }, items: { $ref: '#/default/x' } }, '#/items/$ref'],
    ['a reference to elsewhere', { items: { $ref: 'https://example.com/a' } }, '#/items/$ref'],
    ['a reference to nowhere', { $ref: '#/$defs/toString', $defs: {} }, '#/$ref'],
    ['an encoded reference', { $ref: '#/$defs/%61', $defs: { a: {} } }, '#/$ref'],
    ['another $id inside', { items: { $id: 'https://example.com/a' } }, '#/items/$id'],
    ['an anchor', { items: { $anchor: 'a' } }, '#/items/$anchor'],
    ['a dynamic reference', { items: { $dynamicRef: '#a' } }, '#/items/$dynamicRef'],
    ['an asynchronous schema', { $async: true }, '#/$async'],
    ['another kind of schema', { $schema: 'https://example.com/my-draft' }, '#/$schema'],
    ['a broken pattern', { items: { pattern: '(' } }, '#/items/pattern'],
    ['a schema that is itself', itself, 'refers to itself'],
    ['a schema that is one of itself', { anyOf: [{ type: 'null' }, itself] }, 'refers to itself'],
    ['alternatives of alternatives', row(20, (next) => ({ anyOf: [next, next] })), 'than 10000 checks'],
  ])('%s', (_what, schema, message) => {
    expect(() => boundedSchema(schema)).toThrow(message);
  });
});

describe('takes', () => {
  const Address = z.object({ street: z.string() }).meta({ id: 'Address' });
  const Tree = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree).nullable();
    },
  });

  test.each<[string, JsonSchema, Json, Json]>([
    [
      'what zod makes',
      z.toJSONSchema(z.object({ home: Address, work: Address.nullable(), kind: z.enum(['a', 'b']) })),
      { home: { street: 'x' }, work: null, kind: 'b' },
      { home: { street: 'x' }, work: 3, kind: 'c' },
    ],
    [
      'a tree that zod makes',
      z.toJSONSchema(Tree),
      { name: 'a', children: [{ name: 'b', children: null }] },
      { name: 'a', children: [{ name: 3, children: null }] },
    ],
    [
      'what pydantic makes',
      {
        $defs: {
          Color: { enum: ['red', 'green'], title: 'Color', type: 'string' },
          Node: {
            properties: {
              color: { $ref: '#/$defs/Color', default: 'red' },
              next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }], default: null },
            },
            title: 'Node',
            type: 'object',
          },
        },
        properties: { nodes: { items: { $ref: '#/$defs/Node' }, type: 'array' } },
        required: ['nodes'],
        title: 'Graph',
        type: 'object',
      },
      { nodes: [{ color: 'green', next: { color: 'red' } }] },
      { nodes: [{ color: 'blue' }] },
    ],
    [
      'alternatives that lead back by different names',
      {
        anyOf: [
          { type: 'number' },
          { type: 'object', properties: { left: { $ref: '#' }, right: { $ref: '#' } }, required: ['left'] },
          { type: 'object', properties: { negated: { $ref: '#' } }, required: ['negated'] },
        ],
      },
      { left: { negated: 3 }, right: 4 },
      { left: { negated: 'x' } },
    ],
    [
      'alternatives that lead back by the same name',
      {
        oneOf: [
          { type: 'number' },
          {
            properties: { op: { const: '+' }, left: { $ref: '#' } },
            required: ['op', 'left'],
            type: 'object',
          },
          {
            properties: { op: { const: '*' }, left: { $ref: '#' } },
            required: ['op', 'left'],
            type: 'object',
          },
        ],
      },
      { op: '+', left: { op: '*', left: 3 } },
      { op: '+', left: { op: '-', left: 3 } },
    ],
    [
      'a schema with an address, in an older draft',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://example.com/person.schema.json',
        definitions: { name: { type: 'string', minLength: 1 } },
        properties: { name: { $ref: '#/definitions/name' } },
      },
      { name: 'Ada' },
      { name: '' },
    ],
    [
      'lists of different objects',
      { type: 'array', uniqueItems: true },
      [{ a: 1, b: 2 }, { a: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ])('%s', (_what, schema, fitting, unfit) => {
    const bounded = boundedSchema(schema);
    expect(interpretSchema(bounded, fitting)).toEqual([]);
    expect(interpretSchema(bounded, unfit)).not.toEqual([]);
  });
});

test('leaves out what could take forever, wherever it is', () => {
  const endless = { type: 'string', pattern: '^(a+)+$', format: 'email' };
  const schema = {
    $defs: { x: endless },
    properties: { pattern: { $ref: '#/$defs/x' }, day: { type: 'string', format: 'date' } },
    patternProperties: { '^(b+)+$': endless },
    propertyNames: endless,
    anyOf: [{ items: endless }],
    invented: { $id: '#/$defs/x', pattern: '^(a+)+$' },
  };
  const text = { type: 'string' };
  expect(boundedSchema(schema)).toEqual({
    $defs: { x: text },
    properties: { pattern: { $ref: '#/$defs/x' }, day: { type: 'string', format: 'date' } },
    propertyNames: text,
    anyOf: [{ items: text }],
  });
});

test('a default that would be filled with defaults is not written', () => {
  const again = { $ref: '#', default: {} };
  const schema = { properties: { a: again, b: again, kind: { default: 'x' }, tags: { default: [] } } };
  const value = {};
  expect(interpretSchema(boundedSchema(schema), value)).toEqual([]);
  expect(value).toEqual({ kind: 'x', tags: [] });
});

describe('what is checked in part refuses nothing that fits', () => {
  const named = { $ref: '#/$defs/named' };
  const $defs = { named: { items: { pattern: '^a' } } };
  test.each<[JsonSchema, Json]>([
    [{ type: 'string', not: { pattern: '^a' } }, 'b'],
    [{ not: { type: 'string', format: 'email' } }, 'b'],
    [{ oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'b'],
    [{ oneOf: [{ pattern: '^a' }, { pattern: '^b' }], anyOf: [{ type: 'string' }] }, 'b'],
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    [{ if: { pattern: '^a' }, then: { const: 'a' } }, 'b'],
    [{ contains: { pattern: '^a' }, maxContains: 1 }, ['a', 'b']],
    [{ not: { patternProperties: { '^a': false } } }, { a: 1 }],
    [{ not: { unevaluatedProperties: false } }, { a: 1 }],
    [{ not: { items: [{ type: 'string' }] } }, [1]],
    [{ not: { allOf: [named] }, $defs }, ['b']],
    [{ oneOf: [named, { type: 'array' }], $defs }, ['b']],
  ])('%j takes %j', (schema, value) => {
    expect(interpretSchema(boundedSchema(schema), value)).toEqual([]);
  });

  test('and the rest of it is still checked', () => {
    const schema = boundedSchema({ oneOf: [{ pattern: '^a', minLength: 3 }, { type: 'integer' }] });
    expect(interpretSchema(schema, 'ab')).not.toEqual([]);
    expect(interpretSchema(boundedSchema({ not: { minLength: 2 } }), 'ab')).not.toEqual([]);
  });
});
