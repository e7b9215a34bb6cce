import { expect, test } from 'vitest';
import { distancesOf, planes, step } from './bit-scan.js';
import { bitCodec, similarityOf } from './bit-vectors.js';

let state = 1;
const random = () => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return state / 0x7fffffff - 0.5;
};
const vector = (length: number) => Float32Array.from({ length }, random);

test.each([4, 100, 256, 65_536])(
  'a scan counts the bits that differ, and estimates the similarity: %i dimensions',
  (dimensions) => {
    const codec = bitCodec(dimensions);
    const count = dimensions > 1_000 ? 1 : 100;
    const errors = Array.from({ length: count }, (_, at) => {
      const query = vector(dimensions);
      const one = vector(dimensions).map((value, place) => value + (6 * at * query[place]!) / count);
      const { bits, similarity } = codec.queryOf(query);
      const code = codec.encode(one);
      const [signs, details] = [0, codec.bytes].map((from) => {
        const rows = new Uint8Array(2 * codec.stride);
        rows.set(code.subarray(from, from + codec.bytes), codec.stride);
        const [none, scanned] = distancesOf(bits, rows, codec.stride);
        expect(none).toBe(distance(bits, rows.subarray(0, codec.stride)));
        expect(scanned).toBe(distance(bits, rows.subarray(codec.stride)));
        return scanned;
      });
      return Math.max(0, similarity(signs!, details!)) - similarityOf(query, one);
    });
    const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);
    expect(deviation).toBeLessThan(1.2 * codec.deviation);
  },
);

/** Bit by bit. */
function distance(query: Uint8Array, row: Uint8Array): number {
  let sum = 0;
  for (const [at, byte] of row.entries())
    for (let plane = 0; plane < planes; plane++) {
      const place = Math.floor(at / step) * planes * step + plane * step + (at % step);
      for (let bit = 0; bit < 8; bit++) sum += (((byte ^ query[place]!) >> bit) & 1) << (planes - 1 - plane);
    }
  return sum;
}
