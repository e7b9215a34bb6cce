import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../json.js';
import { jsonInText, outputShapeOf } from './output-format.js';

const person: JsonObject = {
  title: 'Person',
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['name'],
};

async function read(outputSchema: JsonObject, answer: unknown, useJsonSchema = false) {
  const shape = outputShapeOf({ outputSchema, useJsonSchema, stream: false })!;
  const read = await shape.read(typeof answer === 'string' ? answer : JSON.stringify(answer));
  return 'faults' in read ? undefined : read;
}

describe('a schema taken as a type', () => {
  test('names the content after its title', async () => {
    expect(await read(person, { name: 'Ada' })).toEqual({ content: { name: 'Ada' }, contentType: 'Person' });
    expect((await read({ ...person, title: '' }, { name: 'Ada' }))?.contentType).toBe('DynamicModel');
  });

  test('drops what it does not name and what is null, and fits simple values', async () => {
    const answer = { name: 'Ada', age: '36', extra: 1, address: { city: 'Paris', zip: 9 }, tags: null };
    expect((await read(person, answer))?.content).toEqual({
      name: 'Ada',
      age: 36,
      address: { city: 'Paris' },
    });
  });

  test('refuses an answer that does not fit', async () => {
    expect(await read(person, { age: 3 })).toBeUndefined();
    expect(await read(person, { name: 'Ada', age: 'old' })).toBeUndefined();
    expect(await read(person, 'Sorry, I cannot do that.')).toBeUndefined();
  });

  test.each<[string, JsonObject]>([
    [
      'alternatives',
      { oneOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }, { required: ['b'] }] },
    ],
    ['parts', { allOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }] }],
    ['a reference', { $ref: '#/$defs/x', $defs: { x: { required: ['a'] } } }],
  ])('keeps the properties in %s', async (_what, schema) => {
    expect((await read({ type: 'object', ...schema }, { a: 1 }))?.content).toEqual({ a: 1 });
  });

  test('without properties is an empty object', async () => {
    expect((await read({ type: 'object' }, { a: 1 }))?.content).toEqual({});
  });

  test('keeps free-form objects where the schema allows them', async () => {
    expect((await read({ type: 'object', additionalProperties: true }, { a: 1 }))?.content).toEqual({ a: 1 });
  });

  test('may be given in the wrapped form too', async () => {
    const wrapped = { type: 'json_schema', json_schema: { name: 'x', schema: person } };
    expect((await read(wrapped, { name: 'Ada' }))?.contentType).toBe('Person');
  });
});

describe('a schema passed on unchanged', () => {
  const wrapped = { type: 'json_schema', json_schema: { name: 'person', schema: person, strict: true } };

  test('reaches the model unchanged and its answer comes back unchanged', async () => {
    const shape = outputShapeOf({ outputSchema: wrapped, useJsonSchema: true, stream: false })!;
    expect(shape.format).toEqual({ name: 'person', schema: person, strict: true });
    expect(await read(wrapped, { anything: null }, true)).toEqual({
      content: { anything: null },
      contentType: 'dict',
    });
  });

  test('must have the form that the mode requires', () => {
    expect(() => outputShapeOf({ outputSchema: person, useJsonSchema: true, stream: false })).toThrow(
      'json_schema',
    );
  });
});

test.each([
  ['{"a":1}', { a: 1 }],
  ['```json\n{"a":1}\n```', { a: 1 }],
  ['Here you are: {"a":{"b":2}} — done', { a: { b: 2 } }],
  ['[1,2]', [1, 2]],
  ['nothing', undefined],
  ['', undefined],
])('the JSON in %j', (text, value) => {
  expect(jsonInText(text)).toEqual(value);
});

test('the patterns of an agent’s own schema are checked, those of a request are not', async () => {
  const schema = { type: 'object', properties: { code: { type: 'string', pattern: '^[A-Z]+$' } } };
  const own = outputShapeOf({ stream: false }, schema)!;
  expect(await own.read('{"code":"abc"}')).toMatchObject({ faults: [expect.stringContaining('code')] });
  expect(await read({ ...schema }, { code: 'abc' })).toMatchObject({ content: { code: 'abc' } });
});
