import { expect, test } from 'vitest';
import { z } from 'zod';
import { faultText } from './schema-faults.js';
import { fitToSchema, jsonSchemaOf } from './value-schema.js';

const faults = async (...args: Parameters<typeof fitToSchema>) => {
  const fitted = await fitToSchema(...args);
  return fitted.ok ? [] : fitted.faults.map(faultText);
};

test('a zod schema as data describes the input, not the output', () => {
  const schema = z.object({ at: z.coerce.date(), count: z.number().default(1) });
  expect(jsonSchemaOf(schema)).toEqual({
    type: 'object',
    properties: { at: {}, count: { type: 'number', default: 1 } },
    required: expect.not.arrayContaining(['count']),
  });
  expect(jsonSchemaOf(schema, { closed: true })).toMatchObject({ additionalProperties: false });
  expect(jsonSchemaOf(z.record(z.string(), z.number()), { closed: true })).toMatchObject({
    additionalProperties: { type: 'number' },
  });
});

test('a schema with an id shows itself, not a reference', () => {
  const named = z.object({ a: z.string() }).meta({ id: 'ValueSchemaNamed' });
  expect(jsonSchemaOf(named)).toMatchObject({ title: 'ValueSchemaNamed', type: 'object', properties: {} });
  expect(jsonSchemaOf(named)).not.toHaveProperty('$defs');
  const tree: z.ZodType = z
    .object({
      get children() {
        return z.array(tree);
      },
    })
    .meta({ id: 'ValueSchemaTree' });
  expect(jsonSchemaOf(tree)).toMatchObject({ type: 'object', $defs: { ValueSchemaTree: {} } });
});

test('a value is returned with its defaults, as JSON', async () => {
  const schema = z.object({ at: z.coerce.date(), count: z.number().default(1) });
  expect(await fitToSchema(schema, { at: '2026-01-02' })).toEqual({
    ok: true,
    value: { at: '2026-01-02T00:00:00.000Z', count: 1 },
  });
  const given = { a: 1 };
  const json = { type: 'object', properties: { b: { default: 2 } } };
  expect(await fitToSchema(json, given)).toEqual({ ok: true, value: { a: 1, b: 2 } });
  expect(given).toEqual({ a: 1 });
});

test('faults say where, in the same words for both kinds of schema', async () => {
  const zod = z.strictObject({ name: z.string(), tags: z.array(z.string()) });
  const json = {
    type: 'object',
    properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['name', 'tags'],
    additionalProperties: false,
  };
  for (const schema of [zod, json]) {
    const found = await faults(schema, { tags: ['x', 3], other: 1 });
    expect(found).toContain('name: is required');
    expect(found).toContain('other: is not known');
    expect(found).toContainEqual(expect.stringMatching(/^tags\.1: .*string/));
    expect((await faults(schema, 'text'))[0]).toMatch(/^the value: /);
  }
});
