import { expect, test } from 'vitest';
import type { RunStatus } from './run.js';
import { assertTransition } from './transitions.js';

const legal = new Set([
  'pending→running',
  'pending→cancelled',
  'pending→error',
  'running→running',
  'running→completed',
  'running→error',
  'running→cancelled',
  'running→paused',
  'paused→running',
  'paused→cancelled',
  'completed→regenerated',
  'error→running',
]);
const statuses: RunStatus[] = [
  'pending',
  'running',
  'completed',
  'error',
  'cancelled',
  'paused',
  'regenerated',
];

test.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))('%s → %s', (from, to) => {
  const change = () => assertTransition('r1', from, to);
  if (legal.has(`${from}→${to}`)) expect(change).not.toThrow();
  else expect(change).toThrow(`Run r1 is ${from}; it cannot become ${to}.`);
});
