/** A file that came with a form. */
export class UploadedFile {
  constructor(
    readonly filename: string,
    /** As the client named it, without parameters; empty when it did not. */
    readonly mimeType: string,
    readonly bytes: Uint8Array,
  ) {}

  get size(): number {
    return this.bytes.byteLength;
  }

  /** Error bodies show what was sent; never the bytes. */
  toJSON(): object {
    return { filename: this.filename, mime_type: this.mimeType, size: this.size };
  }
}
