import { describe, expect, test } from 'vitest';
import type { Json } from '../../json.js';
import { SessionState } from './session-state.js';
import { maxStateKeys, maxStateLength } from './state-size.js';

function state(stored = {}) {
  return new SessionState('s', stored, { touch: () => {} });
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

describe('the size of a state', () => {
  const full = Object.fromEntries(Array.from({ length: maxStateKeys }, (_, at) => [`k${at}`, 1]));

  test('is bounded in keys, and what is there can still be changed and removed', () => {
    const mine = state(full);
    expect(() => mine.set('more', 1)).toThrow(`at most ${maxStateKeys} keys`);
    mine.set('k0', 2);
    mine.delete('k1');
    mine.set('more', 1);
    expect(mine.get('more')).toBe(1);
  });

  test('is bounded in characters, also over several keys and in steps', () => {
    const half = 'x'.repeat(maxStateLength / 2);
    const mine = state({ first: half });
    expect(() => mine.set('second', half)).toThrow(`at most ${maxStateLength} characters`);
    const step = mine.fork();
    step.set('second', 'x'.repeat(maxStateLength / 4));
    expect(() => step.set('third', half)).toThrow('Remove values that are not needed');
    step.delete('first');
    step.set('third', half);
    step.merge();
    expect(Object.keys(mine.all())).toEqual(['second', 'third']);
    expect(() => mine.set('first', half)).toThrow(TypeError);
  });

  test('that was too large before may become smaller', () => {
    const mine = state({ ...full, further: 'x'.repeat(2 * maxStateLength) });
    mine.set('further', 'x'.repeat(maxStateLength + 1));
    expect(() => mine.set('further', 'x'.repeat(3 * maxStateLength))).toThrow(TypeError);
    mine.delete('further');
    expect(mine.size.keys).toBe(maxStateKeys);
  });

  test('what two steps did side by side is kept', () => {
    const mine = state();
    const steps = ['one', 'two'].map((name) => ({ name, view: mine.fork() }));
    for (const { name, view } of steps) view.set(name, 'x'.repeat(maxStateLength * 0.75));
    for (const { view } of steps) view.merge();
    expect(Object.keys(mine.all())).toEqual(['one', 'two']);
    expect(() => mine.set('three', 1)).toThrow(TypeError);
  });
});
