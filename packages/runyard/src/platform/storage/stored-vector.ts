/** Vectors are stored as the bytes of 32-bit numbers, the lowest byte first. */
export function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(Float32Array.from(vector).buffer);
}

export function numbersOf(bytes: Uint8Array): Float32Array {
  // a view needs an address that is a multiple of four
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}
