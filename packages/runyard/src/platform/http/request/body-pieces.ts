/** Pieces that are smaller are copied together. */
const smallBytes = 4_096;

/**
 * The bytes of a body as they come. A small piece costs far more memory than its bytes, so it is not kept: its bytes are
 * copied behind those of the small pieces before it.
 */
export class BodyPieces {
  readonly #pieces: Buffer[] = [];
  #together: Buffer | undefined;
  #used = 0;

  add(piece: Buffer): void {
    // most bodies come in one piece
    if (piece.length >= smallBytes || (this.#pieces.length === 0 && this.#together === undefined)) {
      this.#endTogether();
      this.#pieces.push(piece);
      return;
    }
    if (this.#used + piece.length > smallBytes) this.#endTogether();
    this.#together ??= Buffer.allocUnsafeSlow(smallBytes);
    this.#used += piece.copy(this.#together, this.#used);
  }

  whole(): Buffer {
    this.#endTogether();
    const [first] = this.#pieces;
    return first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
  }

  #endTogether(): void {
    if (this.#together === undefined) return;
    this.#pieces.push(this.#together.subarray(0, this.#used));
    this.#together = undefined;
    this.#used = 0;
  }
}
