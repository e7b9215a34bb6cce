import { expect, test, vi } from 'vitest';
import { once } from './once.js';

test('what is needed is made when it is first needed, and stays the same', () => {
  const make = vi.fn(() => ({}));
  const made = once(make);
  expect(make).not.toHaveBeenCalled();
  expect(made()).toBe(made());
  expect(make).toHaveBeenCalledOnce();
});
