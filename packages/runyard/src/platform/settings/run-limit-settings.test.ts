import { expect, test } from 'vitest';
import { loadSettings } from './config.js';
import { serviceLimits } from './run-limit-settings.js';

function limitsIn(env: Record<string, string>) {
  return serviceLimits(loadSettings({ cwd: '/', env }).settings);
}

test('limits are read from the environment, and none removes one', () => {
  expect(limitsIn({})).toEqual({});
  expect(
    limitsIn({ RUNYARD_MAX_RUN_TURNS: '50', RUNYARD_MAX_RUN_COST: '2.5', RUNYARD_MAX_RUN_TOKENS: 'none' }),
  ).toEqual({ turns: 50, cost: 2.5, tokens: null });
});

test.each([
  ['RUNYARD_MAX_RUN_TURNS', '0', 'a whole number from 1 to 1000000000000, or none'],
  ['RUNYARD_MAX_RUN_TURNS', 'Infinity', 'or none'],
  ['RUNYARD_MAX_RUN_COST', '-1', 'US dollars above 0, such as 2.5, or none'],
  ['RUNYARD_MAX_RUN_TIME_MS', '2147483648', 'a whole number from 1 to 2147483647, or none'],
])('%s = %s is rejected with what is allowed', (name, value, allowed) => {
  expect(() => limitsIn({ [name]: value })).toThrow(allowed);
});
