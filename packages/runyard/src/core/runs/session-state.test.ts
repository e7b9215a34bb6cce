import { describe, expect, test } from 'vitest';
import type { Json } from '../json.js';
import { SessionState } from './session-state.js';

function state(stored = {}) {
  return new SessionState('s', stored, () => {});
}

describe('values', () => {
  test('go in and out as copies', () => {
    const shared = { items: [1] };
    const mine = state();
    mine.set('cart', shared);
    shared.items.push(2);
    (mine.get('cart') as { items: number[] }).items.push(3);
    (mine.all().cart as { items: number[] }).items.push(4);
    expect(mine.get('cart')).toEqual({ items: [1] });
  });

  test.each([10n, undefined, () => {}, Symbol('x'), Number.NaN])(
    'that JSON cannot hold are refused where they are set: %s',
    (value) => {
      expect(() => state().set('n', value as unknown as Json)).toThrow(TypeError);
    },
  );

  test('may have any name, but not one without end', () => {
    const mine = state();
    mine.set('__proto__', 'own');
    expect(Object.entries(mine.all())).toEqual([['__proto__', 'own']]);
    expect(() => mine.set('k'.repeat(256), 1)).toThrow('at most 255');
  });
});

describe('keys that a token fixes', () => {
  test('hold what it says, in steps too, and are changed by nothing', () => {
    const mine = state({ tier: 'gold', kept: { a: 1, b: 2 } });
    mine.fix({ dependencies: [], stateKeys: ['tier', 'kept', 'absent'], state: { tier: 'free' } });
    const part = mine.fork();
    for (const view of [mine, part]) {
      for (const key of ['tier', 'kept', 'absent'])
        expect(() => view.set(key, 'gold')).toThrow(`fixes '${key}'`);
      expect(() => view.delete('tier')).toThrow('a run cannot change it');
      view.set('tier', 'free');
      view.set('kept', { b: 2, a: 1 });
      view.delete('absent');
    }
    part.merge();
    expect(mine.all()).toEqual({ tier: 'free', kept: { a: 1, b: 2 } });
    expect(mine.takeChanges()).toEqual({ sessionId: 's', set: { tier: 'free' }, remove: [] });
  });
});

describe('changes', () => {
  test('are handed over once, by key', () => {
    const mine = state({ old: 1, kept: 2 });
    mine.set('new', 3);
    mine.delete('old');
    expect(mine.takeChanges()).toEqual({ sessionId: 's', set: { new: 3 }, remove: ['old'] });
    expect(mine.takeChanges()).toBeUndefined();
  });

  test('of a step count when the step has ended', () => {
    const mine = state({ count: 1 });
    const step = mine.fork();
    step.set('count', 2);
    step.delete('gone');
    mine.set('other', true);
    expect(step.all()).toEqual({ count: 2, other: true });
    expect(mine.get('count')).toBe(1);
    step.merge();
    expect(mine.all()).toEqual({ count: 2, other: true });
    expect(mine.takeChanges()).toEqual({ sessionId: 's', set: { other: true, count: 2 }, remove: ['gone'] });
  });
});
