import { expect, test } from 'vitest';
import { z } from 'zod';
import { schemaOfGiven } from './given-fields.js';

const schema = z.object({
  message: z.string(),
  stream: z.boolean().default(true),
  user: z.string().nullish(),
  tags: z.array(z.string()).optional(),
  when: z.preprocess((value) => value ?? 'now', z.string()),
});

test.each([
  [{ message: 'hello' }],
  [{ message: 'hello', stream: false, user: null }],
  [{ user: undefined, message: 'hello', tags: [] }],
  [{ message: 'hello', when: 'later' }],
])('gives %j the value that the whole schema gives it', (body) => {
  const narrowed = schemaOfGiven(schema, body);
  expect(narrowed).not.toBe(schema);
  expect(narrowed.safeParse(body)).toEqual(schema.safeParse(body));
  expect(Object.keys(Object(narrowed.parse(body))).sort()).toEqual(Object.keys(schema.parse(body)).sort());
  expect(schemaOfGiven(schema, { ...body })).toBe(narrowed);
});

test.each([[{}], [{ stream: true }], [{ message: 1 }], [{ message: 'hello', tags: 'a' }]])(
  'refuses %j as the whole schema does',
  (body) => {
    expect(schema.safeParse(body).success).toBe(false);
    expect(schemaOfGiven(schema, body).safeParse(body).success).toBe(false);
  },
);

test.each([
  ['with rules between its fields', schema.refine(() => true), { message: 'hello' }],
  ['that is not one of an object', z.union([z.string(), schema]), { message: 'hello' }],
  ['that a field is unknown to', schema, { message: 'hello', massage: 'hello' }],
  ['that a name of every object is unknown to', schema, { message: 'hello', toString: 'hello' }],
  ['that gets no object', schema, 'hello'],
  ['that gets nothing', schema, null],
])('is the whole schema for one %s', (_, whole, value) => {
  expect(schemaOfGiven(whole, value)).toBe(whole);
});

test('keeps a bounded number of schemas, however many sets of fields callers send', () => {
  const names = Array.from({ length: 50 }, (_, at) => `field${at}`);
  const wide = z.object(Object.fromEntries(names.map((name) => [name, z.string().optional()])));
  const made = new Set(names.map((name) => schemaOfGiven(wide, { [name]: 'x' })));
  expect(made.size).toBe(33);
  expect(schemaOfGiven(wide, { field49: 'x' })).toBe(wide);
});
