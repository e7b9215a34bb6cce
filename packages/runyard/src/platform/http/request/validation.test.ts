import { expect, test } from 'vitest';
import { z } from 'zod';
import { validatePart } from './validation.js';

function item(schema: z.ZodType, value: unknown) {
  const result = validatePart('body', z.object({ f: schema }), { f: value });
  if (result.ok) throw new Error('accepted');
  expect(result.items[0]?.loc[0]).toBe('body');
  return result.items[0];
}

test('a missing field shows the object around it, in forms nothing', () => {
  const schema = z.object({ a: z.object({ b: z.string() }) });
  expect(validatePart('body', schema, { a: { c: 1 } })).toEqual({
    ok: false,
    items: [{ type: 'missing', loc: ['body', 'a', 'b'], msg: 'Field required', input: { c: 1 } }],
  });
  expect(validatePart('body', z.object({ message: z.string() }), {}, true)).toMatchObject({
    items: [{ type: 'missing', loc: ['body', 'message'], input: null }],
  });
});

test('a body that is missing or no object', () => {
  const schema = z.object({ a: z.string() });
  expect(validatePart('body', schema, undefined)).toMatchObject({
    items: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
  });
  expect(validatePart('body', schema, [1])).toMatchObject({
    items: [
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        input: [1],
      },
    ],
  });
});

test.each([
  ['text', z.string(), 1, 'string_type', 'Input should be a valid string', undefined],
  ['integer', z.int(), null, 'int_type', 'Input should be a valid integer', undefined],
  [
    'integer as text',
    z.int(),
    'x',
    'int_parsing',
    'Input should be a valid integer, unable to parse string as an integer',
    undefined,
  ],
  ['boolean', z.boolean(), null, 'bool_type', 'Input should be a valid boolean', undefined],
  [
    'boolean as text',
    z.boolean(),
    'x',
    'bool_parsing',
    'Input should be a valid boolean, unable to interpret input',
    undefined,
  ],
  [
    'object',
    z.record(z.string(), z.string()),
    [],
    'dict_type',
    'Input should be a valid dictionary',
    undefined,
  ],
  ['list', z.array(z.string()), {}, 'list_type', 'Input should be a valid list', undefined],
  [
    'length',
    z.string().max(255),
    'x'.repeat(256),
    'string_too_long',
    'String should have at most 255 characters',
    { max_length: 255 },
  ],
  [
    'short',
    z.string().min(1),
    '',
    'string_too_short',
    'String should have at least 1 character',
    { min_length: 1 },
  ],
  [
    'pattern',
    z.string().regex(/^(approved|rejected)$/),
    'x',
    'string_pattern_mismatch',
    "String should match pattern '^(approved|rejected)$'",
    { pattern: '^(approved|rejected)$' },
  ],
  [
    'minimum',
    z.number().min(1),
    0,
    'greater_than_equal',
    'Input should be greater than or equal to 1',
    { ge: 1 },
  ],
  ['maximum', z.number().max(5), 6, 'less_than_equal', 'Input should be less than or equal to 5', { le: 5 }],
  [
    'enum',
    z.enum(['agent', 'team', 'workflow']),
    'x',
    'enum',
    "Input should be 'agent', 'team' or 'workflow'",
    { expected: "'agent', 'team' or 'workflow'" },
  ],
  [
    'literal',
    z.literal(['required', 'audit']),
    'x',
    'literal_error',
    "Input should be 'required' or 'audit'",
    { expected: "'required' or 'audit'" },
  ],
  [
    'own rule',
    z.string().refine(() => false, 'no such method'),
    'x',
    'value_error',
    'Value error, no such method',
    { error: {} },
  ],
])('%s', (_name, schema, value, type, msg, ctx) => {
  const found = item(schema, value);
  expect(found).toMatchObject({ type, msg, loc: ['body', 'f'] });
  expect(found?.ctx).toEqual(ctx);
});

test('each branch of a union says what it wants, once', () => {
  const schema = z.object({ f: z.union([z.string(), z.array(z.string()), z.string().max(3)]) });
  const result = validatePart('query', schema, { f: 1 });
  expect(result).toMatchObject({
    items: [{ type: 'string_type', loc: ['query', 'f'] }, { type: 'list_type' }],
  });
});

test('unknown keys of a strict object are named one by one', () => {
  expect(validatePart('body', z.strictObject({ a: z.string() }), { a: 'x', b: 1 })).toMatchObject({
    items: [{ type: 'extra_forbidden', loc: ['body', 'b'], input: 1 }],
  });
});

test('a huge input is not sent back whole', () => {
  expect(String(item(z.string().max(3), 'x'.repeat(100_000))?.input).length).toBeLessThan(1100);
});
