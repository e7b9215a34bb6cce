/**
 * Vectors in one bit for each dimension. A vector is rotated first, the same way for all of its length, so that its
 * length is spread over all dimensions: the signs of a vector with many zeros, such as those of the offline embedder,
 * would say little otherwise. A query keeps its numbers, and its product with the signs estimates the similarity.
 */
export class BitCodec {
  /** Of one vector. */
  readonly bytes: number;
  readonly #signs: readonly Float32Array[];
  readonly #block: number;
  /** The product of a query with the signs, for a similarity of 1. */
  readonly #scale: number;
  /** The deviation of an estimate from the similarity. */
  readonly deviation: number;

  constructor(readonly dimensions: number) {
    this.bytes = Math.ceil(dimensions / 8);
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

  /** For each byte of a vector, what each of its values adds to the estimated similarity. */
  tableOf(query: Float32Array): Float32Array {
    const rotated = this.#rotated(query);
    const norm = Math.sqrt(rotated.reduce((sum, value) => sum + value * value, 0)) || 1;
    const table = new Float32Array(this.bytes * 256);
    for (let byte = 0; byte < this.bytes; byte++) {
      const part = new Float64Array(8);
      for (let bit = 0; bit < 8; bit++) part[bit] = (rotated[byte * 8 + bit] ?? 0) / (norm * this.#scale);
      const none = -part.reduce((sum, value) => sum + value, 0);
      for (let value = 0; value < 256; value++) {
        let sum = none;
        for (let bit = 0; bit < 8; bit++) if ((value >> bit) & 1) sum += 2 * part[bit]!;
        table[byte * 256 + value] = sum;
      }
    }
    return table;
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
