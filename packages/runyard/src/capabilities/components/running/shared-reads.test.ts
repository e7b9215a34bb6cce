import { expect, test } from 'vitest';
import { SharedReads } from './shared-reads.js';

test('callers share a read that begins after they asked, and nobody gets an older one', async () => {
  const shared = new SharedReads<number>();
  let reads = 0;
  let stored = 1;
  const ask = () =>
    shared.get('a', async () => {
      reads += 1;
      const read = stored;
      await new Promise(setImmediate);
      return read;
    });
  const first = ask();
  stored = 2;
  const others = [ask(), ask(), ask()];
  expect(await first).toBe(1);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  expect(reads).toBe(2);
  stored = 3;
  expect([await ask(), reads]).toEqual([3, 3]);
});

test('a read that fails fails for those who share it alone', async () => {
  const shared = new SharedReads<number>();
  const failing = shared.get('a', () => Promise.reject(new Error('away')));
  const next = shared.get('a', async () => 1);
  await expect(failing).rejects.toThrow('away');
  expect(await next).toBe(1);
  expect(await shared.get('a', async () => 2)).toBe(2);
});
