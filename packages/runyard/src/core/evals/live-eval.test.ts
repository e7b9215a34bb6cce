import { expect, it } from 'vitest';
import { agent } from '../../library.js';
import { newId } from '../ids.js';
import { liveEval } from './live-eval.js';

const scorers = [{ name: 'short', score: () => ({ score: 1, passed: true }) }];

it('chooses the asked share of the runs, the same ones in every process', () => {
  const one = liveEval({ agent: 'writer', sample: 0.25, scorers });
  const other = liveEval({ agent: agent({ id: 'writer', model: 'offline' }), sample: 0.25, scorers });
  const ids = Array.from({ length: 2_000 }, newId);
  const chosen = ids.filter((id) => one.samples(id));
  expect(ids.filter((id) => other.samples(id))).toEqual(chosen);
  expect(chosen.length / ids.length).toBeGreaterThan(0.2);
  expect(chosen.length / ids.length).toBeLessThan(0.3);
  // a larger share contains the smaller one, and another eval chooses others
  const larger = liveEval({ agent: 'writer', sample: 0.5, scorers });
  expect(chosen.every((id) => larger.samples(id))).toBe(true);
  const named = liveEval({ name: 'another', agent: 'writer', sample: 0.25, scorers });
  expect(ids.filter((id) => named.samples(id))).not.toEqual(chosen);
  expect(ids.some((id) => liveEval({ agent: 'writer', sample: 0, scorers }).samples(id))).toBe(false);
});

it('refuses options that say nothing or too much', () => {
  expect(() => liveEval({ scorers })).toThrow('give one of agent, team and workflow');
  expect(() => liveEval({ agent: 'a', team: 'b', scorers })).toThrow('give one of agent, team and workflow');
  expect(() => liveEval({ agent: 'a', scorers: [] })).toThrow('scorers');
  expect(() => liveEval({ agent: 'a', scorers, sample: 1.5 })).toThrow('a number from 0 to 1');
  expect(() => liveEval({ agent: 'a', scorers: [...scorers, ...scorers] })).toThrow(
    "two scorers have the name 'short'",
  );
});
