import { expect, test, vi } from 'vitest';
import { agent, tool } from '../../index.js';
import { scriptedModel } from '../../testing.js';
import { isPromise } from './promises.js';

test('a promise is recognised, whatever made it, and a value is not', async () => {
  const own = (async () => 1)();
  class Replaced<T> extends Promise<T> {}
  vi.stubGlobal('Promise', Replaced);
  try {
    expect(own instanceof Promise).toBe(false);
    expect([isPromise(own), isPromise(Promise.resolve(1))]).toEqual([true, true]);
    expect([isPromise(1), isPromise(undefined), isPromise({})]).toEqual([false, false, false]);
    const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen' });
    const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'done']);
    const looking = agent({ id: 'looking', model, tools: [look], dependencies: { day: () => 'Monday' } });
    expect(await looking.run('Look')).toMatchObject({ status: 'completed', content: 'done' });
  } finally {
    vi.unstubAllGlobals();
  }
});
