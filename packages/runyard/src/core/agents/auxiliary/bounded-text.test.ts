import { expect, test } from 'vitest';
import { estimatedTokens, shortened } from './bounded-text.js';

test('a short text stays as it is', () => {
  expect(shortened('short', 5)).toBe('short');
});

test('a long text keeps its beginning and its end, and says what is missing', () => {
  const text = shortened(`begin${'x'.repeat(1000)}end`, 100);
  expect(text).toMatch(/^beginx+\n\[… 908 characters left out …\]\nx+end$/);
});

test('no character is cut in two', () => {
  for (let limit = 1; limit < 60; limit += 1) {
    const text = shortened('🙂'.repeat(40), limit) as string & { isWellFormed(): boolean };
    expect(text.isWellFormed()).toBe(true);
  }
});

test('tokens are estimated near what tokenizers count', () => {
  expect(estimatedTokens('')).toBe(0);
  expect(estimatedTokens('The quick brown fox jumps over the lazy dog.')).toBeGreaterThanOrEqual(9);
  expect(estimatedTokens('The quick brown fox jumps over the lazy dog.')).toBeLessThanOrEqual(14);
  expect(estimatedTokens('東京は日本の首都です')).toBeGreaterThanOrEqual(6);
});
