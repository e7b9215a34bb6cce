import { expect, test } from 'vitest';
import { JsonFault, parseUntrustedJson } from './json-text.js';

test.each([
  ['{"a":}', 5],
  ['{', 1],
  ['[1,]', 3],
  ['{"a" 1}', 5],
  ['', 0],
  ['nul', 0],
  ['"abc', 0],
  [' {a:1}', 2],
  ['{"a": tru}', 6],
  ['[1 2]', 3],
  ['{} x', 3],
  ['{"a":1,}', 7],
  ['[[]', 3],
  ['{"a":{"b":[true,nil]}}', 16],
])('the fault in %s is found', (text, offset) => {
  const fault = faultOf(text);
  expect(fault.offset).toBe(offset);
  expect(fault.message).not.toBe('');
});

test('depth is bounded at 64', () => {
  const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}"[[[[["${'}]'.repeat(depth / 2)}`;
  expect(parseUntrustedJson(nested(64))).toBeInstanceOf(Array);
  expect(faultOf(nested(66)).message).toContain('64');
  expect(faultOf('['.repeat(100_000) + ']'.repeat(100_000)).offset).toBe(64);
});

function faultOf(text: string): JsonFault {
  try {
    parseUntrustedJson(text);
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
  throw new Error('accepted');
}

test('a number that no program could hold is a fault, reported with its place', () => {
  for (const [text, offset] of [
    ['{"a":1e400}', 5],
    ['[1,-1E+999]', 3],
    [`[${'9'.repeat(400)}]`, 1],
    ['1e0000309', 0],
  ] as const) {
    expect(() => parseUntrustedJson(text)).toThrow(expect.objectContaining({ name: 'JsonFault', offset }));
  }
  expect(parseUntrustedJson('["1e400", 1e308, 1e-400, 0.5e100]')).toEqual(['1e400', 1e308, 0, 0.5e100]);
});

test('texts of many megabytes take a time that grows with their length only', () => {
  const megabytes = 10_000_000;
  // each row of digits is as long as a number can be
  const numbers = `["${`${'9'.repeat(308)},`.repeat(megabytes / 309)}"]`;
  expect((parseUntrustedJson(numbers) as string[])[0]).toHaveLength(309 * Math.floor(megabytes / 309));
  for (const text of ['a'.repeat(megabytes), '\\\\'.repeat(megabytes / 2), '\\"'.repeat(megabytes / 2)]) {
    expect(faultOf(`["${text}",1e999]`)).toMatchObject({ offset: text.length + 4 });
    expect(faultOf(`["${text}`)).toMatchObject({ offset: 1 });
    expect(faultOf(`["${text}",${'['.repeat(70)}${']'.repeat(70)}]`)).toMatchObject({
      offset: text.length + 67,
    });
  }
});
