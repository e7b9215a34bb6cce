import { expect, it } from 'vitest';
import { TransientMap } from './transient-map.js';

it('has what was set last and not removed, in the order in which keys were set first', () => {
  const map = new TransientMap<string, number>();
  for (let index = 0; index < 1_000; index += 1) {
    map.set(`key ${index}`, index);
    if (index >= 3) expect(map.delete(`key ${index - 3}`)).toBe(true);
  }
  map.set('key 997', -1);
  expect(map.size).toBe(3);
  expect(map.keys()).toEqual(['key 997', 'key 998', 'key 999']);
  expect(map.values()).toEqual([-1, 998, 999]);
  expect(map.entries()).toEqual([
    ['key 997', -1],
    ['key 998', 998],
    ['key 999', 999],
  ]);
  expect([map.has('key 996'), map.get('key 996'), map.delete('key 996')]).toEqual([false, undefined, false]);
  expect([map.has('key 999'), map.get('key 999')]).toEqual([true, 999]);
});

it('gives lists that stay as they are while entries come and go', () => {
  const map = new TransientMap<number, true>();
  for (let key = 0; key < 600; key += 1) map.set(key, true);
  const seen: number[] = [];
  for (const key of map.keys()) {
    seen.push(key);
    map.delete(key);
    map.set(key + 1_000, true);
  }
  expect(seen).toHaveLength(600);
  expect(map.size).toBe(600);
});
