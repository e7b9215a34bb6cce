import { expect, test } from 'vitest';
import { LazyAbort } from '../async/abort.js';
import { callOptions } from './called-model.js';
import { scriptedModel } from './scripted.js';

test('a model that hands on its options in another object hands on the signal', () => {
  const scope = new LazyAbort();
  const ownModel = { ...scriptedModel([]) };
  const options = callOptions(ownModel, scope);
  for (const copy of [{ ...options }, Object.create(options), new Proxy(options, {})])
    expect(copy.signal).toBe(scope.signal);
  expect(Object.keys(options)).toEqual(['signal']);
});
