import { expect, test } from 'vitest';
import type { ComponentChange } from './component-change-store.js';
import { pairs } from './sequence-pairs.js';
import { addVersion } from './version-rules.js';

test('a component has at most 10,000 versions', async () => {
  const language = {
    check: () => [],
    references: () => [],
    secrets: () => [],
    stored: (config: object) => ({ ...config }),
  };
  const add = (versions: number) => {
    const change = {
      component: { id: 'a', kind: 'agent', lastVersion: versions },
      countVersions: async () => versions,
      addVersion: async (version: number) => ({ version }),
    };
    const given = { config: {}, label: null, notes: null, stage: 'draft', links: [], setsCurrent: true };
    // what a draft without a label and links needs of a change
    return addVersion(change as unknown as ComponentChange, language, given);
  };
  expect(await add(9_999)).toMatchObject({ version: 10_000 });
  await expect(add(10_000)).rejects.toMatchObject({
    message: expect.stringContaining('10000'),
    status: 409,
  });
});

test('items are compared with each other as far as the budget goes, and then by their positions', () => {
  const budget = { left: 5 };
  const changed = () => pairs(['a', 'b'], ['c', 'd'], budget);
  expect(changed()).toEqual([
    [0, undefined],
    [1, undefined],
    [undefined, 0],
    [undefined, 1],
  ]);
  expect(budget.left).toBe(1);
  expect(changed()).toEqual([
    [0, 0],
    [1, 1],
  ]);
  expect(budget.left).toBe(1);
});
