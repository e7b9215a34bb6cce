import { expect, test } from 'vitest';
import { enumerated, namesIn, numbersIn, quotedIn, sentences, words } from './words.js';

test('an enumeration falls into its parts', () => {
  expect(enumerated(' tea ,milk,  and sugar and  salt')).toEqual(['tea', 'milk', 'sugar', 'salt']);
  expect(words('Add 2 + 3 * 4, a + b')).toEqual(['add', '2', '+', '3', '*', '4', 'a', 'b']);
});

test('a hostile text is read once', () => {
  const length = 500_000;
  const blanks = `1${' '.repeat(length)}x`;
  const openings = '“a«b'.repeat(length / 4);
  const figures = `1${',111'.repeat(length / 4)}x`;
  for (const text of [blanks, openings, figures]) {
    for (const read of [enumerated, namesIn, numbersIn, quotedIn, sentences, words])
      expect(Array.isArray(read(text))).toBe(true);
  }
});
