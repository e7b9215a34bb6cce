import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { lazyObject } from './lazy-object.js';

test('the fields are made once, at the first use, also for what is derived from it', () => {
  const fields = vi.fn(() => ({ name: z.string() }));
  const schema = lazyObject(fields);
  const derived = schema.transform(({ name }) => name);
  expect(fields).not.toHaveBeenCalled();
  expect(schema.parse({ name: 'a' })).toEqual({ name: 'a' });
  expect(derived.parse({ name: 'b' })).toBe('b');
  expect(schema.loose().parse({ name: 'c', more: 1 })).toEqual({ name: 'c', more: 1 });
  expect(fields).toHaveBeenCalledOnce();
});

test('once it was used, zod need not take an object for one that may be inside itself', () => {
  const schema = lazyObject(() => ({ name: z.string() }));
  schema.parse({ name: 'a' });
  expect(Object.getOwnPropertyDescriptor(schema.def, 'shape')).toMatchObject({ value: schema.shape });
});
