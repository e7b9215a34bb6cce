import { expect, test } from 'vitest';
import { Turns } from './turns.js';

test('those in a hurry go first, but others are not kept waiting for ever', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const take = async (name: string, hurries: boolean) => {
    const end = await turns.take({ hurries });
    order.push(name);
    await Promise.resolve();
    end();
    // a second time changes nothing
    end();
  };
  const slow = ['slow 1', 'slow 2'].map((name) => take(name, false));
  const fast = [1, 2, 3, 4, 5, 6].map((number) => take(`fast ${number}`, true));
  await Promise.all([...slow, ...fast]);
  await take('last', false);
  const first = ['fast 1', 'fast 2', 'fast 3', 'fast 4'];
  expect(order).toEqual(['slow 1', ...first, 'slow 2', 'fast 5', 'fast 6', 'last']);
});
