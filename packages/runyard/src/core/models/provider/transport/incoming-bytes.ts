import type { Arriving } from './transport.js';

/** So much is kept for a slow reader before the connection is asked to wait. */
const mostKept = 64 * 1024;

const notPaused = () => {};

/** Bytes between a connection that pushes them and a reader that pulls them. */
export class IncomingBytes {
  ended = false;
  /** Lets the connection continue after it was asked to wait. */
  resume: () => void = notPaused;
  readonly #kept: Uint8Array[] = [];
  #size = 0;
  #paused = false;
  #failure: { readonly reason: unknown } | undefined;
  #waiting: { resolve(bytes: Uint8Array | undefined): void; reject(reason: unknown): void } | undefined;

  /** False if the connection has to wait until it is resumed. */
  push(bytes: Uint8Array): boolean {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve(bytes);
      return true;
    }
    this.#kept.push(bytes);
    this.#size += bytes.length;
    this.#paused = this.#size >= mostKept;
    return !this.#paused;
  }

  end(): void {
    this.ended = true;
    this.#waiting?.resolve(undefined);
    this.#waiting = undefined;
  }

  fail(reason: unknown): void {
    this.#failure = { reason };
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
  }

  /** What has arrived; undefined at the end. What arrived before a failure comes first. */
  next(): Arriving {
    const bytes = this.#kept.shift();
    if (bytes !== undefined) {
      this.#size -= bytes.length;
      if (this.#paused && this.#kept.length === 0) {
        this.#paused = false;
        // It may push more before it returns.
        this.resume();
      }
      return bytes;
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason);
    if (this.ended) return undefined;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let bytes = await this.next(); bytes !== undefined; bytes = await this.next()) yield bytes;
  }
}
