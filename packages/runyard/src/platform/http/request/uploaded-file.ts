/** A file that came with a form. */
export class UploadedFile {
  readonly size: number;
  #bytes: Uint8Array | undefined;

  constructor(
    readonly filename: string,
    /** As the client named it, without parameters; empty when it did not. */
    readonly mimeType: string,
    bytes: Uint8Array,
  ) {
    this.#bytes = bytes;
    this.size = bytes.byteLength;
  }

  get bytes(): Uint8Array {
    if (this.#bytes === undefined) throw new Error(`The bytes of ${this.filename} were released.`);
    return this.#bytes;
  }

  /** Lets go of the bytes. The form itself lives for as long as its answer takes. */
  release(): void {
    this.#bytes = undefined;
  }

  /** Error bodies show what was sent; never the bytes. */
  toJSON(): object {
    return { filename: this.filename, mime_type: this.mimeType, size: this.size };
  }
}
