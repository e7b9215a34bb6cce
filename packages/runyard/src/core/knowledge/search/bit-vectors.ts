import { planes, step } from './bit-scan.js';

/** Of the levels that the planes of a query can hold. */
const highestLevel = 2 ** planes - 1;

export interface BitQuery {
  /** Planes of sixteen bytes in turn, as `distancesOf` takes them. */
  readonly bits: Uint8Array;
  /** What a distance says about the similarity. */
  readonly similarity: (distance: number) => number;
}

/**
 * Vectors in one bit for each dimension. A vector is rotated first, the same way for all of its length, so that its
 * length is spread over all dimensions: the signs of a vector with many zeros, such as those of the offline embedder,
 * would say little otherwise. A query keeps four bits of each number: its product with the signs estimates the similarity.
 */
export class BitCodec {
  /** Of one vector. */
  readonly bytes: number;
  /** Of one vector that is padded for `distancesOf`. */
  readonly stride: number;
  readonly #signs: readonly Float32Array[];
  readonly #block: number;
  /** The product of a query with the signs, for a similarity of 1. */
  readonly #scale: number;
  /** The deviation of an estimate from the similarity. */
  readonly deviation: number;

  constructor(readonly dimensions: number) {
    this.bytes = Math.ceil(dimensions / 8);
    this.stride = Math.ceil(this.bytes / step) * step;
    this.#block = 2 ** Math.floor(Math.log2(dimensions));
    const random = numbers(dimensions);
    this.#signs = Array.from({ length: 4 }, () =>
      Float32Array.from({ length: dimensions }, () => (random() & 1 ? 1 : -1)),
    );
    this.#scale = Math.sqrt((2 * dimensions) / Math.PI);
    this.deviation = Math.sqrt((Math.PI / 2 - 1) / dimensions);
  }

  encode(vector: Float32Array): Uint8Array {
    const rotated = this.#rotated(vector);
    const bits = new Uint8Array(this.bytes);
    for (let at = 0; at < rotated.length; at++) if (rotated[at]! > 0) bits[at >> 3]! |= 1 << (at & 7);
    return bits;
  }

  /** Each number becomes one of sixteen levels, and a level four bits: what that changes is a fifth of `deviation`. */
  queryOf(query: Float32Array): BitQuery {
    const rotated = this.#rotated(query);
    const norm = Math.sqrt(rotated.reduce((sum, value) => sum + value * value, 0)) || 1;
    const most = rotated.reduce((found, value) => Math.max(found, Math.abs(value)), 0) || 1;
    const bits = new Uint8Array(planes * this.stride);
    for (const [at, value] of rotated.entries()) {
      const level = Math.round(((value / most + 1) * highestLevel) / 2);
      const place = Math.floor(at / (8 * step)) * planes * step + ((at >> 3) % step);
      for (let plane = 0; plane < planes; plane++)
        if ((level << plane) & (1 << (planes - 1))) bits[place + plane * step]! |= 1 << (at & 7);
    }
    const perBit = most / (highestLevel * norm * this.#scale);
    return {
      bits,
      similarity: (distance) => perBit * (highestLevel * this.dimensions - 2 * distance),
    };
  }

  /** Random signs and Walsh-Hadamard transforms in turn; two overlapping blocks cover any number of dimensions. */
  #rotated(vector: Float32Array): Float32Array {
    const rotated = Float32Array.from(vector);
    for (const [turn, signs] of this.#signs.entries()) {
      for (let at = 0; at < rotated.length; at++) rotated[at]! *= signs[at]!;
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
