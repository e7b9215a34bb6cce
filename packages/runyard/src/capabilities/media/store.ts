import { createHash } from 'node:crypto';
import type { MediaContents } from '../../core/media/media.js';
import type { Database } from '../../platform/storage/database.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    media_contents: {
      hash: string;
      bytes: Uint8Array;
      size: number;
      created_at: number;
    };
  }
}

/** The bytes of media, stored once under their SHA-256. */
export class MediaStore implements MediaContents {
  constructor(
    private readonly database: Database,
    readonly fetch?: MediaContents['fetch'],
  ) {}

  async put(bytes: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    await this.database.query
      .insertInto('media_contents')
      .values({ hash, bytes, size: bytes.byteLength, created_at: Date.now() })
      .onConflict((conflict) => conflict.column('hash').doNothing())
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
