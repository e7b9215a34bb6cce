import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  formBoolean,
  formInteger,
  identifier,
  jsonArrayField,
  jsonField,
  jsonObjectField,
  repeatableFields,
  uploadedFiles,
} from './fields.js';
import { UploadedFile } from './uploaded-file.js';
import { validatePart } from './validation.js';

function items(schema: z.ZodType, value: unknown, form = true) {
  const result = validatePart('body', schema, value, form);
  if (result.ok) throw new Error(`Accepted: ${JSON.stringify(result.value)}`);
  return result.items;
}

function accepted(schema: z.ZodType, value: unknown): unknown {
  const result = validatePart('body', schema, value, true);
  if (!result.ok) throw new Error(JSON.stringify(result.items));
  return result.value;
}

test.each(['true', '1', 'yes', 'on', 't', 'y', 'TRUE', 'Yes', 'ON'])('%s is true', (text) => {
  expect(accepted(formBoolean(), text)).toBe(true);
});

test.each(['false', '0', 'no', 'off', 'f', 'n', 'False', 'NO'])('%s is false', (text) => {
  expect(accepted(formBoolean(), text)).toBe(false);
});

test('anything else is no boolean; absent takes the default', () => {
  const schema = z.object({ stream: formBoolean().default(true), other: formBoolean().optional() });
  expect(accepted(schema, {})).toEqual({ stream: true });
  expect(items(schema, { stream: 'maybe' })).toEqual([
    {
      type: 'bool_parsing',
      loc: ['body', 'stream'],
      msg: 'Input should be a valid boolean, unable to interpret input',
      input: 'maybe',
    },
  ]);
});

test('integers and their bounds', () => {
  const schema = z.object({ limit: formInteger({ min: 1, max: 1000 }).default(20) });
  expect(accepted(schema, { limit: ' 7 ' })).toEqual({ limit: 7 });
  expect(accepted(schema, {})).toEqual({ limit: 20 });
  for (const text of ['x', '1.5', '1e3', '99999999999999999999', '0x10']) {
    expect(items(schema, { limit: text })).toEqual([
      {
        type: 'int_parsing',
        loc: ['body', 'limit'],
        msg: 'Input should be a valid integer, unable to parse string as an integer',
        input: text,
      },
    ]);
  }
  expect(items(schema, { limit: '0' })).toEqual([
    {
      type: 'greater_than_equal',
      loc: ['body', 'limit'],
      msg: 'Input should be greater than or equal to 1',
      input: 0,
      ctx: { ge: 1 },
    },
  ]);
  expect(items(schema, { limit: '1001' })[0]).toMatchObject({ type: 'less_than_equal', ctx: { le: 1000 } });
});

test('JSON in a field', () => {
  const schema = z.object({
    state: jsonObjectField().optional(),
    list: jsonArrayField().optional(),
    any: jsonField(z.object({ op: z.string() })).optional(),
  });
  expect(accepted(schema, { state: '{"a":[1]}', list: '[1]', any: '{"op":"x"}' })).toEqual({
    state: { a: [1] },
    list: [1],
    any: { op: 'x' },
  });
  expect(items(schema, { state: '{"a":}' })).toEqual([
    {
      type: 'json_invalid',
      loc: ['body', 'state'],
      msg: 'JSON decode error',
      input: '{"a":}',
      ctx: { error: expect.any(String), position: 5 },
    },
  ]);
  expect(items(schema, { state: '[]' })).toEqual([
    { type: 'dict_type', loc: ['body', 'state'], msg: 'Input should be a valid dictionary', input: [] },
  ]);
  expect(items(schema, { list: '{}' })).toEqual([
    { type: 'list_type', loc: ['body', 'list'], msg: 'Input should be a valid list', input: {} },
  ]);
  expect(items(schema, { any: '{"op":1}' })).toEqual([
    { type: 'string_type', loc: ['body', 'any', 'op'], msg: 'Input should be a valid string', input: 1 },
  ]);
  expect(items(schema, { state: `{"a":${'['.repeat(200)}${']'.repeat(200)}}` })[0]).toMatchObject({
    type: 'json_invalid',
    ctx: { error: 'nested deeper than 64 levels' },
  });
});

test('files and texts are not mixed up', () => {
  const schema = z.object({ message: z.string(), files: uploadedFiles().optional() });
  const file = new UploadedFile('a.txt', 'text/plain', Buffer.from('secret bytes'));
  expect(accepted(schema, { message: 'x', files: [file] })).toEqual({ message: 'x', files: [file] });
  expect(items(schema, { message: 'x', files: ['text'] })[0]).toMatchObject({
    type: 'value_error',
    loc: ['body', 'files', 0],
  });
  const wrong = items(schema, { message: file });
  expect(wrong[0]).toMatchObject({ type: 'string_type', loc: ['body', 'message'] });
  expect(JSON.stringify(wrong)).toContain('"filename":"a.txt"');
  expect(JSON.stringify(wrong)).not.toContain('data');
});

test('identifiers are bounded and hold no U+0000', () => {
  expect(accepted(identifier(), 'any thing/✓')).toBe('any thing/✓');
  expect(items(identifier(), 'a\u0000b')[0]).toMatchObject({
    type: 'value_error',
    msg: 'Value error, the character U+0000 is not allowed',
  });
  expect(items(identifier(), 'x'.repeat(256))[0]).toMatchObject({
    type: 'string_too_long',
    msg: 'String should have at most 255 characters',
    ctx: { max_length: 255 },
  });
});

test('only lists are repeatable', () => {
  const schema = z.object({
    one: z.string(),
    files: uploadedFiles().optional(),
    many: z.array(z.string()).default([]),
  });
  expect([...repeatableFields(schema)]).toEqual(['files', 'many']);
  expect(repeatableFields(undefined).size).toBe(0);
});
