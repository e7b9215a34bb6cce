import { planes, step } from './bit-scan.js';

/** Of the levels that the planes of a query can hold. */
const highestLevel = 2 ** planes - 1;
/**
 * The best two bits for numbers that are distributed normally with a deviation of 1: the numbers below and above
 * `limit` become `small` and `large` (Lloyd and Max). `kept` is the product of a number with what it becomes, on average.
 * `variance` is that of an estimate of one dimension: 0.13 for vectors that have nothing in common, and most for equal ones.
 */
const levels = { limit: 0.9816, small: 0.4528, large: 1.51, kept: 0.8825, variance: 0.19 };

export interface BitQuery {
  /** Planes of sixteen bytes in turn, as `distancesOf` takes them. */
  readonly bits: Uint8Array;
  /** No distance is larger. */
  readonly largest: number;
  /** What the distances of both parts of a code say about the similarity. */
  readonly similarity: (signs: number, details: number) => number;
}

/**
 * Vectors in two bits for each dimension. A vector is rotated first, the same way for all of its length, so that its
 * length is spread over all dimensions: the signs of a vector with many zeros, such as those of the offline embedder,
 * would say little otherwise. The first bits of all numbers are their signs: enough to find those that may be near. The
 * second bits say where a number lies among those with its sign: they halve the error of the estimate. A query keeps
 * four bits of each number.
 */
export class BitCodec {
  /** Of one part of a code: the signs, or the details. */
  readonly bytes: number;
  /** Of one part that is padded for `distancesOf`. */
  readonly stride: number;
  readonly #flips: readonly Float32Array[];
  readonly #block: number;
  /** The deviation of an estimate from the similarity. */
  readonly deviation: number;

  constructor(readonly dimensions: number) {
    this.bytes = Math.ceil(dimensions / 8);
    this.stride = Math.ceil(this.bytes / step) * step;
    this.#block = 2 ** Math.floor(Math.log2(dimensions));
    const random = numbers(dimensions);
    this.#flips = Array.from({ length: 4 }, () =>
      Float32Array.from({ length: dimensions }, () => (random() & 1 ? 1 : -1)),
    );
    this.deviation = Math.sqrt(levels.variance / dimensions);
  }

  /** The signs, then the details: set for the higher of two numbers with the same sign. */
  encode(vector: Float32Array): Uint8Array {
    const rotated = this.#rotated(vector);
    const limit = (levels.limit * normOf(rotated)) / Math.sqrt(this.dimensions);
    const bits = new Uint8Array(2 * this.bytes);
    for (let at = 0; at < rotated.length; at++) {
      const value = rotated[at]!;
      const bit = 1 << (at & 7);
      if (value > 0) bits[at >> 3]! |= bit;
      if (value > limit || (value <= 0 && value > -limit)) bits[this.bytes + (at >> 3)]! |= bit;
    }
    return bits;
  }

  /** Each number becomes one of sixteen levels, and a level four bits: what that changes is two fifths of `deviation`. */
  queryOf(query: Float32Array): BitQuery {
    const rotated = this.#rotated(query);
    const norm = normOf(rotated) || 1;
    const most = rotated.reduce((found, value) => Math.max(found, Math.abs(value)), 0) || 1;
    const bits = new Uint8Array(planes * this.stride);
    for (const [at, value] of rotated.entries()) {
      const level = Math.round(((value / most + 1) * highestLevel) / 2);
      const place = Math.floor(at / (8 * step)) * planes * step + ((at >> 3) % step);
      for (let plane = 0; plane < planes; plane++)
        if ((level << plane) & (1 << (planes - 1))) bits[place + plane * step]! |= 1 << (at & 7);
    }
    // a number is the sum of two: one with the sign of each bit
    const perBit = most / (highestLevel * norm * levels.kept * Math.sqrt(this.dimensions));
    const [sign, detail] = [(levels.large + levels.small) / 2, (levels.large - levels.small) / 2];
    const largest = highestLevel * this.dimensions;
    return {
      bits,
      largest,
      similarity: (signs, details) =>
        perBit * (sign * (largest - 2 * signs) + detail * (largest - 2 * details)),
    };
  }

  /** Random signs and Walsh-Hadamard transforms in turn; two overlapping blocks cover any number of dimensions. */
  #rotated(vector: Float32Array): Float32Array {
    const rotated = Float32Array.from(vector);
    for (const [turn, flips] of this.#flips.entries()) {
      for (let at = 0; at < rotated.length; at++) rotated[at]! *= flips[at]!;
      transform(rotated, turn % 2 === 0 ? 0 : rotated.length - this.#block, this.#block);
    }
    return rotated;
  }
}

const codecs = new Map<number, BitCodec>();

export function bitCodec(dimensions: number): BitCodec {
  let codec = codecs.get(dimensions);
  if (codec === undefined) {
    codec = new BitCodec(dimensions);
    codecs.set(dimensions, codec);
  }
  return codec;
}

function normOf(vector: Float32Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

function transform(vector: Float32Array, offset: number, length: number): void {
  for (let half = 1; half < length; half *= 2) {
    for (let start = offset; start < offset + length; start += 2 * half) {
      for (let at = start; at < start + half; at++) {
        const one = vector[at]!;
        const other = vector[at + half]!;
        vector[at] = one + other;
        vector[at + half] = one - other;
      }
    }
  }
  const scale = 1 / Math.sqrt(length);
  for (let at = offset; at < offset + length; at++) vector[at]! *= scale;
}

/** Always the same numbers for a seed: bits that are stored must fit those of later processes. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 16;
  };
}

/** From 0 to 1. The same numbers give the same result everywhere. */
export function similarityOf(one: Float32Array, other: Float32Array): number {
  let product = 0;
  let first = 0;
  let second = 0;
  for (let at = 0; at < one.length; at++) {
    const left = one[at]!;
    const right = other[at]!;
    product += left * right;
    first += left * left;
    second += right * right;
  }
  const norm = Math.sqrt(first * second);
  return norm === 0 ? 0 : Math.max(0, Math.min(1, product / norm));
}
