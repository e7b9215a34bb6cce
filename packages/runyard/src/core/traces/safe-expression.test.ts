import { expect, test } from 'vitest';
import { safeExpression } from './safe-expression.js';

test.each([
  String.raw`\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,4}\b`,
  String.raw`[\w.+-]+@[\w-]+\.[\w.]+`,
  'sk-[A-Za-z0-9]+',
  String.raw`(?<=card )\d+`,
  '(?:Mr|Mrs) [A-Z][a-z]+',
  '(?:ab-)+c',
  'password: *[^ ]+',
])('takes %s', (source) => {
  const expression = safeExpression(source, 'i');
  expect(expression.source).toBe(source);
  expect(expression.flags).toBe('gi');
});

test.each([
  ['(a+)+$', 'group'],
  ['(a|aa)+$', 'group'],
  ['(?:a?){40}a{40}', 'group'],
  [String.raw`\w*\w*\w*\w*!`, 'open'],
  ['.*foo.*', 'open'],
  ['a?a?a?a?a?a?a?a?a?a?a?a?a?b', 'ways'],
  [String.raw`(\d)\1`, 'refers back'],
  ['(?=a*)b', 'looks around'],
  ['a*', 'empty'],
  ['x'.repeat(501), 'longer'],
  ['(', 'Invalid regular expression'],
  [Array.from({ length: 70 }, (_, index) => `w${index}`).join('|'), 'alternatives'],
])('refuses %s', (source, reason) => {
  expect(() => safeExpression(source, '')).toThrow(reason);
});

test('refuses flags that mean something else here', () => {
  expect(() => safeExpression('a', 'y')).toThrow('flags');
});
