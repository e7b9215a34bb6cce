import { expect, test } from 'vitest';
import { LazyAbort } from '../abort.js';
import { callOptions } from './called-model.js';
import { scriptedModel } from './scripted.js';

test('a model that hands on a copy of its options hands on the signal', () => {
  const scope = new LazyAbort();
  const ownModel = { ...scriptedModel([]) };
  const copy = { ...callOptions(ownModel, scope) };
  expect(copy.signal).toBe(scope.signal);
});
