import type { Log } from '../../../core/log.js';

/** Where the files of a form are stored while they arrive. */
export interface UploadSink<Stored = unknown> {
  /**
   * Stores the bytes at its own pace: the client sends no faster. When reading or storing fails, it rejects and leaves
   * nothing behind.
   */
  write(bytes: AsyncIterable<Uint8Array>): Promise<Stored>;
  /** Removes what was stored: the request was refused, or its handler did not take it. */
  remove(stored: Stored): Promise<void>;
}

/** A file that was stored while it arrived. */
export class StreamedFile<Stored = unknown> {
  #taken = false;

  constructor(
    readonly filename: string,
    /** As the client named it, without parameters; empty when it did not. */
    readonly mimeType: string,
    readonly size: number,
    private readonly stored: Stored,
  ) {}

  get isTaken(): boolean {
    return this.#taken;
  }

  /** What the sink returned. From now on it belongs to the caller: it is not removed when the request ends. */
  take(): Stored {
    this.#taken = true;
    return this.stored;
  }

  /** Error bodies show what was sent; never where it is. */
  toJSON(): object {
    return { filename: this.filename, mime_type: this.mimeType, size: this.size };
  }
}

/** The files of one request. Those that no handler has taken are removed when it ends. */
export class StreamedFiles {
  readonly #received: { readonly file: StreamedFile; remove(): Promise<void> }[] = [];

  constructor(private readonly sink: UploadSink) {}

  async receive(filename: string, mimeType: string, bytes: AsyncIterable<Buffer>): Promise<StreamedFile> {
    let size = 0;
    const counted = async function* () {
      for await (const piece of bytes) {
        size += piece.length;
        yield piece;
      }
    };
    const stored = await this.sink.write(counted());
    const file = new StreamedFile(filename, mimeType, size, stored);
    this.#received.push({ file, remove: () => this.sink.remove(stored) });
    return file;
  }

  /** What cannot be removed now is for the sink to find later. */
  async removeUntaken(log: Log): Promise<void> {
    for (const { file, remove } of this.#received) {
      if (file.isTaken) continue;
      await remove().catch((error: unknown) =>
        log.warn({ err: error }, 'an upload that was not used could not be removed'),
      );
    }
  }
}
