import { expect, test } from 'vitest';
import type { JsonObject } from '../../json.js';
import { fillSchema } from './fill-schema.js';

const text = `${'a'.repeat(50)}! numbers 3 and 4`;

test('fills lists with different values', () => {
  const schema = {
    type: 'object',
    required: ['letters', 'texts', 'counts'],
    properties: {
      letters: { type: 'array', minItems: 3, uniqueItems: true, items: { enum: ['x', 'y', 'z'] } },
      texts: { type: 'array', minItems: 2, uniqueItems: true, items: { type: 'string' } },
      counts: { type: 'array', minItems: 4, uniqueItems: true, items: { type: 'integer' } },
    },
  };
  const filled = fillSchema(schema, text) as Record<string, unknown[]>;
  expect(filled.letters).toEqual(['x', 'y', 'z']);
  expect(new Set(filled.texts).size).toBe(2);
  expect(filled.counts).toHaveLength(4);
  expect(new Set(filled.counts).size).toBe(4);
});

test('keeps to patterns', () => {
  const filled = fillSchema({ type: 'string', pattern: '^[A-Z]{2}-\\d{3}$' }, text);
  expect(filled).toMatch(/^[A-Z]{2}-\d{3}$/);
});

test.each<[string, JsonObject]>([
  ['long texts', { type: 'string', minLength: 100_000 }],
  ['different choices', { enum: Array.from({ length: 1_000 }, (_, index) => index) }],
  ['repeated groups', { type: 'string', pattern: '^(a?){40}a{40}$' }],
  ['rows of alternatives', { type: 'string', pattern: `^${'(a|a)'.repeat(60)}b$` }],
  ['rows of options', { type: 'string', pattern: `^${'a?'.repeat(60)}${'a'.repeat(60)}$` }],
])('terminates with lists of lists of %s', (_what, items) => {
  const lists = (inner: JsonObject) => ({ type: 'array', minItems: 1_000, uniqueItems: true, items: inner });
  expect(JSON.stringify(fillSchema(lists(lists(items)), text)).length).toBeLessThan(1_000_000);
});
