/** With so few differences every choice of signs is tried. */
const mostExact = 16;
const fewestTrials = 999;
const mostTrials = 9_999;
/** Bounds the time of a test with many differences. */
const mostAdditions = 10_000_000;
const seed = 0x9e3779b9;

/**
 * The probability of a sum of differences at least as far from zero if each of them could as well have had the other
 * sign: the permutation test of pairs. It assumes no distribution. Exact for few differences, else from random signs
 * with a fixed seed: the same differences in any order get the same answer. Null with less than two.
 */
export function signFlipPValue(differences: readonly number[]): number | null {
  if (differences.length < 2) return null;
  // a sign changes nothing about a tie
  const sizes = Float64Array.from(
    differences.filter((difference) => difference !== 0),
    Math.abs,
  ).sort();
  if (sizes.length === 0) return 1;
  const observed = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  // sums of the same numbers in another order may differ in their last digits
  const extreme = observed - 1e-9 * total;
  return sizes.length <= mostExact ? exact(sizes, extreme) : sampled(sizes, total, extreme);
}

/** One sign stays: turning all of them gives the same size. */
function exact(sizes: Float64Array, extreme: number): number {
  const flips = 2 ** (sizes.length - 1);
  const last = sizes.length - 1;
  let count = 0;
  for (let signs = 0; signs < flips; signs++) {
    // the types allow for positions that a list does not have
    let sum = sizes[last] ?? 0;
    for (let index = 0; index < last; index++)
      sum += (signs >> index) & 1 ? (sizes[index] ?? 0) : -(sizes[index] ?? 0);
    if (Math.abs(sum) >= extreme) count += 1;
  }
  return count / flips;
}

function sampled(sizes: Float64Array, total: number, extreme: number): number {
  const trials = Math.min(mostTrials, Math.max(fewestTrials, Math.floor(mostAdditions / sizes.length)));
  const nextBits = randomBits();
  let count = 0;
  for (let trial = 0; trial < trials; trial++) {
    let positive = 0;
    let bits = 0;
    for (let index = 0; index < sizes.length; index++) {
      bits = index % 32 === 0 ? nextBits() : bits >>> 1;
      // as above
      positive += (bits & 1) * (sizes[index] ?? 0);
    }
    if (Math.abs(2 * positive - total) >= extreme) count += 1;
  }
  // the observed signs are one of the choices: no probability is zero
  return (count + 1) / (trials + 1);
}

/** 32 random bits at a time (Mulberry32). */
function randomBits(): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
