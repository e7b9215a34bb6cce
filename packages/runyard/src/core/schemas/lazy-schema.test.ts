import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { lazyObject, lazySchema } from './lazy-schema.js';

test('the schema is made once, when something first looks into it', () => {
  const make = vi.fn(() => z.array(z.string()).max(1));
  const names = lazySchema(make);
  const body = lazyObject(() => ({ names, more: names.optional() }));
  expect(make).not.toHaveBeenCalled();
  expect(body.parse({ names: ['a'] })).toEqual({ names: ['a'] });
  expect(body.safeParse({ names: ['a', 'b'] }).error?.issues).toMatchObject([{ path: ['names'] }]);
  expect(names.parse(['c'])).toEqual(['c']);
  expect(make).toHaveBeenCalledOnce();
});

test('a failed attempt to make it leaves nothing behind', () => {
  const make = vi.fn(() => z.string());
  make.mockImplementationOnce(() => {
    throw new Error('not yet');
  });
  const schema = lazySchema(make);
  expect(() => schema.parse('a')).toThrow('not yet');
  expect(schema.parse('a')).toBe('a');
  expect(make).toHaveBeenCalledTimes(2);
});

test('it has the class, the members and the behaviour of the schema that is made', () => {
  const schema = () => lazySchema(() => z.string().min(1));
  expect(schema()).toBeInstanceOf(z.ZodString);
  expect('_zod' in schema()).toBe(true);
  expect(schema().optional().parse(undefined)).toBeUndefined();
  expect(z.union([z.int(), schema()]).parse('a')).toBe('a');
});

test('it may be inside itself', () => {
  const node = lazyObject(() => ({
    name: z.string(),
    get nodes() {
      return z.array(node).optional();
    },
  }));
  const tree = { name: 'a', nodes: [{ name: 'b' }] };
  expect(node.parse(tree)).toEqual(tree);
  expect(z.toJSONSchema(node)).toMatchObject({ properties: { nodes: { items: { $ref: '#' } } } });
});

test('its JSON schema has the meta of the schema and its own, and an id is defined once', () => {
  const name = lazySchema(() => z.string().meta({ examples: ['Ada'] }), {
    id: 'Name',
    description: 'A name.',
  });
  const schema = z.toJSONSchema(
    lazyObject(() => ({ first: name, last: name }), { description: 'A person.' }),
  );
  expect(schema).toMatchObject({
    description: 'A person.',
    properties: { first: { $ref: '#/$defs/Name' }, last: { $ref: '#/$defs/Name' } },
    $defs: { Name: { type: 'string', description: 'A name.', examples: ['Ada'] } },
  });
});
