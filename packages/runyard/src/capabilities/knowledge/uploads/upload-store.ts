import { createHash } from 'node:crypto';
import { newId } from '../../../core/ids.js';
import type { UploadSink } from '../../../platform/http/request/streamed-file.js';
import { type Database, statement } from '../../../platform/storage/database.js';

declare module '../../../platform/storage/schema.js' {
  interface Schema {
    knowledge_uploads: { upload_id: string; position: number; bytes: Uint8Array; created_at: number };
  }
}

/** Bytes that wait to be indexed. */
export interface Upload {
  readonly uploadId: string;
  readonly size: number;
  /** SHA-256. */
  readonly digest: string;
}

/** One row holds so many bytes: neither a process nor a driver holds a whole upload. */
const pieceBytes = 1_048_576;

const insertPiece = statement(
  'insert_knowledge_upload',
  'INSERT INTO knowledge_uploads (upload_id, position, bytes, created_at) VALUES (?, ?, ?, ?)',
);

const readPiece = statement(
  'read_knowledge_upload',
  'SELECT bytes FROM knowledge_uploads WHERE upload_id = ? AND position = ?',
);

const removeUpload = statement(
  'remove_knowledge_upload',
  'DELETE FROM knowledge_uploads WHERE upload_id = ?',
);

/** What an earlier process received and never used. */
const removeAbandoned = statement(
  'remove_abandoned_knowledge_uploads',
  'DELETE FROM knowledge_uploads WHERE created_at < ?',
);

/** Keeps uploaded bytes in the database, where every process finds them, until they are indexed. */
export class UploadStore implements UploadSink<Upload> {
  constructor(private readonly database: Database) {}

  async write(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Upload> {
    const uploadId = newId();
    const digest = createHash('sha256');
    let size = 0;
    let position = 0;
    try {
      for await (const piece of inPieces(bytes)) {
        digest.update(piece);
        size += piece.byteLength;
        await this.run(insertPiece, [uploadId, position, piece, Date.now()]);
        position += 1;
      }
    } catch (error) {
      await this.remove({ uploadId });
      throw error;
    }
    return { uploadId, size, digest: digest.digest('hex') };
  }

  async *open(uploadId: string): AsyncIterable<Uint8Array> {
    for (let position = 0; ; position += 1) {
      const [row] = await this.database.read<{ bytes: Uint8Array }>(readPiece, [uploadId, position]);
      if (row === undefined) return;
      yield row.bytes;
    }
  }

  async remove({ uploadId }: Pick<Upload, 'uploadId'>): Promise<void> {
    await this.run(removeUpload, [uploadId]);
  }

  async removeBefore(time: number): Promise<void> {
    await this.run(removeAbandoned, [time]);
  }

  private async run(
    given: ReturnType<typeof statement>,
    parameters: readonly (string | number | Uint8Array)[],
  ): Promise<void> {
    await this.database.transaction((run) => run(given[this.database.dialect], parameters));
  }
}

async function* inPieces(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const given of bytes) {
    for (let start = 0; start < given.byteLength; ) {
      const part = given.subarray(start, start + pieceBytes - length);
      waiting.push(part);
      length += part.byteLength;
      start += part.byteLength;
      if (length < pieceBytes) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(waiting);
}
