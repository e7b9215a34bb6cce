import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashOfToken, isAccountToken, newAccountToken } from './token.js';

test('a token is recognised by its beginning, and stored as the SHA-256 of all of it', () => {
  const { token, hash, prefix } = newAccountToken();
  expect(token).toMatch(/^runyard_pat_[0-9A-Za-z]{43}$/);
  expect(isAccountToken(token)).toBe(true);
  expect(hash).toBe(createHash('sha256').update(token).digest('hex'));
  expect(hashOfToken(token)).toBe(hash);
  expect(prefix).toBe(token.slice(0, 16));
});

test('no two tokens are alike', () => {
  const tokens = Array.from({ length: 1000 }, () => newAccountToken().token);
  expect(new Set(tokens).size).toBe(tokens.length);
  // every place varies: nothing of the 32 bytes is lost, but for the first digit, which few numbers use up
  for (let place = 13; place < 12 + 43; place++)
    expect(new Set(tokens.map((token) => token[place])).size, `place ${place}`).toBeGreaterThan(40);
});

test.each(['', 'runyard_pat_', `runyard_pat_${'a'.repeat(42)}`, `runyard_pat_${'a'.repeat(44)}`])(
  '%j is no token',
  (text) => expect(isAccountToken(text)).toBe(false),
);

test.each(['-', ' ', '\n', 'ä', '_'])('%j does not occur in a token', (character) => {
  expect(isAccountToken(`runyard_pat_${'a'.repeat(42)}${character}`)).toBe(false);
});
