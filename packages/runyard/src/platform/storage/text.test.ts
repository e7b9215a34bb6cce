import { expect, it } from 'vitest';
import { decodeText, encodeText } from './text.js';

it('stores ordinary text as it is', () => {
  for (const text of ['', 'plain', 'é 👩‍🚀', '"\\u0000"', '\n\t']) expect(encodeText(text)).toBe(text);
});

it('gives back text that no database holds, and keeps each distinct', () => {
  const odd = ['\0', 'a\0b', '\ud800', 'x\udfffy', '\u0001', '\u0001"\\u0000"'];
  const stored = odd.map(encodeText);
  expect(new Set(stored).size).toBe(odd.length);
  for (const text of stored) expect(text).not.toMatch(/[\0\p{Surrogate}]/u);
  expect(stored.map(decodeText)).toEqual(odd);
});
