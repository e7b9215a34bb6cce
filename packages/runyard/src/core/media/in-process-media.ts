import type { MediaContents } from './media.js';
import { mediaKey } from './owned-media.js';

/** Bytes that are kept; beyond it the oldest media are forgotten. */
const keptBytes = 268_435_456;

/** The media of a component that is run without a service: they live as long as it does, and memory is bounded. */
export class InProcessMedia implements MediaContents {
  private readonly stored = new Map<string, Uint8Array>();
  private size = 0;

  async put(bytes: Uint8Array, owner?: string): Promise<string> {
    const hash = mediaKey(bytes, owner);
    if (!this.stored.has(hash)) {
      // not slice(): that of a Buffer shares its memory
      this.stored.set(hash, new Uint8Array(bytes));
      this.size += bytes.length;
      this.forgetOldest(hash);
    }
    return hash;
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    return this.stored.get(hash);
  }

  private forgetOldest(newest: string): void {
    for (const [hash, { length }] of this.stored) {
      if (this.size <= keptBytes || hash === newest) return;
      this.stored.delete(hash);
      this.size -= length;
    }
  }
}
