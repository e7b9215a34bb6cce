import { expect, test } from 'vitest';
import { fitValue } from './fit-value.js';

test.each([
  ['1', 1],
  ['-1.5', -1.5],
  ['+.5', 0.5],
  ['2.', 2],
  ['1e3', 1000],
  [' 12.25E-1 ', 1.225],
])('%s is a number', (text, value) => {
  expect(fitValue('float', text)).toEqual({ fits: true, value });
});

test.each(['', '.', '1.2.3', 'e5', '1e', '--1', '1x'])('%s is not a number', (text) => {
  expect(fitValue('float', text)).toEqual({ fits: false });
});

test('a text of millions of digits is not a number', () => {
  const digits = '1'.repeat(5_000_000);
  for (const text of [digits, `0.${digits}`, `${digits}x`, `1.${digits}x`, `${digits}e${digits}x`])
    expect(fitValue('float', text)).toEqual({ fits: false });
});
