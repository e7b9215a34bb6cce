import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { BodyPieces } from './body-pieces.js';

test.each([
  { sizes: [10] },
  { sizes: [1, 1, 1] },
  { sizes: [5_000, 1, 5_000, 1, 2] },
  { sizes: [1, 4_095, 4_095, 1, 4_096, 3] },
  { sizes: Array<number>(9_000).fill(1) },
])('the whole is what came, piece by piece', ({ sizes }) => {
  const sent = Buffer.from(
    Array.from({ length: sizes.reduce((sum, size) => sum + size) }, (_, at) => at % 251),
  );
  const pieces = new BodyPieces();
  let at = 0;
  for (const size of sizes) {
    pieces.add(Buffer.from(sent.subarray(at, at + size)));
    at += size;
  }
  expect(pieces.whole().equals(sent)).toBe(true);
});

test('a body in tiny pieces costs about its bytes, not an object for each', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const used = () => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  const bodies = Array.from({ length: 200 }, () => {
    const pieces = new BodyPieces();
    // as the parser of HTTP makes them: each with memory of its own
    for (let count = 0; count < 1_000; count++) pieces.add(Buffer.allocUnsafeSlow(1));
    return pieces;
  });
  const each = (used() - before) / bodies.length;
  expect(bodies.every((pieces) => pieces.whole().length === 1_000)).toBe(true);
  expect(each).toBeLessThan(32_000);
});
