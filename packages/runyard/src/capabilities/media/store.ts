import type { MediaContents } from '../../core/media/media.js';
import { mediaKey } from '../../core/media/owned-media.js';
import type { Database } from '../../platform/storage/database.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    media_contents: {
      hash: string;
      bytes: Uint8Array;
      size: number;
      created_at: number;
      /** The run that does not keep them; null for bytes that all runs share. */
      owner: string | null;
      /** Set by the write that ends that run: they are to be removed. */
      released_at: number | null;
    };
  }
}

/** The bytes of media, stored once under their SHA-256. */
export class MediaStore implements MediaContents {
  constructor(
    private readonly database: Database,
    readonly fetch?: MediaContents['fetch'],
  ) {}

  async put(bytes: Uint8Array, owner?: string): Promise<string> {
    const hash = mediaKey(bytes, owner);
    await this.database.query
      .insertInto('media_contents')
      .values({
        hash,
        bytes,
        size: bytes.byteLength,
        created_at: Date.now(),
        owner: owner ?? null,
        released_at: null,
      })
      .onConflict((conflict) =>
        // a run that continues may store again what was to be removed with its end
        owner === undefined
          ? conflict.column('hash').doNothing()
          : conflict.column('hash').doUpdateSet({ released_at: null }),
      )
      .execute();
    return hash;
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    const row = await this.database.query
      .selectFrom('media_contents')
      .select('bytes')
      .where('hash', '=', hash)
      .executeTakeFirst();
    return row?.bytes;
  }
}
