/** A vector as a provider sent it, brought to the length 1. Throws what is wrong with it. */
export function readVector(sent: unknown): Float32Array {
  const numbers = typeof sent === 'string' ? decoded(sent) : listed(sent);
  const vector = new Float32Array(numbers.length);
  let sum = 0;
  // by index, and without an iterator: a vector has thousands of numbers, and both loops end at the last
  for (let at = 0; at < vector.length; at++) sum += numbers[at]! * numbers[at]!;
  const norm = Math.sqrt(sum);
  if (!Number.isFinite(norm)) throw new Error('a vector with a value that is not a finite number');
  if (norm === 0) throw new Error('a vector of zeros');
  // as above
  for (let at = 0; at < vector.length; at++) vector[at] = numbers[at]! / norm;
  return vector;
}

function listed(sent: unknown): ArrayLike<number> {
  if (sent instanceof Float32Array) return sent;
  if (!Array.isArray(sent)) throw new Error('no vector for one of the texts');
  if (!sent.every((value) => typeof value === 'number')) {
    throw new Error('a vector with a value that is not a number');
  }
  return sent;
}

/** Base64 of 32-bit numbers, the lowest byte first. */
function decoded(sent: string): ArrayLike<number> {
  const bytes = Buffer.from(sent, 'base64');
  if (bytes.length % 4 !== 0 || !/^[\w+/-]*=*$/.test(sent)) {
    throw new Error('a vector that is not base64 of 32-bit numbers');
  }
  const numbers = new Float32Array(bytes.length / 4);
  for (let at = 0; at < numbers.length; at++) numbers[at] = bytes.readFloatLE(at * 4);
  return numbers;
}
