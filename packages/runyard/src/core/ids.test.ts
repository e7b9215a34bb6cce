import { expect, test } from 'vitest';
import { newId } from './ids.js';

test('identifiers are version 7 UUIDs, all different, and sort in the order they were made', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !version7.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});

test('an identifier contains its creation time', () => {
  const before = Date.now();
  const time = Number.parseInt(newId().replace('-', '').slice(0, 12), 16);
  expect(time).toBeGreaterThanOrEqual(before);
  // ids made faster than the clock ticks may run ahead of it by a few milliseconds
  expect(time).toBeLessThan(Date.now() + 1000);
});
