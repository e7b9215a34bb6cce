import { createHash } from 'node:crypto';
import { newId } from '../../../core/ids.js';
import type { UploadSink } from '../../../platform/http/request/streamed-file.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';

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

/** Others write between the pieces: to remove a gigabyte at once would stop them for seconds. */
const removedAtOnce = 32;

// The last pieces first: what is left of an upload still begins with its first one, and is found again.
const removePieces = statement(
  'remove_knowledge_upload',
  `DELETE FROM knowledge_uploads WHERE upload_id = ? AND position > (
     SELECT max(position) - ${removedAtOnce} FROM knowledge_uploads AS all_pieces WHERE all_pieces.upload_id = ?)
   RETURNING position`,
);

// What an earlier process received and never used. A content that waits for its turn, however long, still needs its own.
const abandoned = (position: string) => `
  SELECT upload_id FROM knowledge_uploads
  WHERE created_at < ? AND position = 0 AND NOT EXISTS (
    SELECT 1 FROM knowledge_contents AS contents
    WHERE (contents.status = 'processing' OR contents.deleted_at IS NOT NULL)
      AND ${position}(contents.request, knowledge_uploads.upload_id) > 0)
  ORDER BY created_at LIMIT 100`;

const readAbandoned: Statement = {
  name: 'abandoned_knowledge_uploads',
  sqlite: abandoned('instr'),
  postgres: statement('', abandoned('strpos')).postgres,
};

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

  /** The bytes of an upload. Fails when not all of them are there: a part must not pass for the whole. */
  async *open({ uploadId, size }: Pick<Upload, 'uploadId' | 'size'>): AsyncIterable<Uint8Array> {
    let left = size;
    for (let position = 0; left > 0; position += 1) {
      const [row] = await this.database.read<{ bytes: Uint8Array }>(readPiece, [uploadId, position]);
      if (row === undefined) throw new Error(`${left} of ${size} bytes of the upload ${uploadId} are gone.`);
      left -= row.bytes.byteLength;
      yield row.bytes;
    }
  }

  async remove({ uploadId }: Pick<Upload, 'uploadId'>): Promise<void> {
    for (;;) {
      const removed = await this.run(removePieces, [uploadId, uploadId]);
      if (removed.length < removedAtOnce) return;
    }
  }

  /** Removes uploads from before a time that no content waits for. */
  async removeBefore(time: number): Promise<void> {
    const rows = await this.database.read<{ upload_id: string }>(readAbandoned, [time]);
    for (const row of rows) await this.remove({ uploadId: row.upload_id });
  }

  private run(given: Statement, parameters: readonly (string | number | Uint8Array)[]): Promise<unknown[]> {
    return this.database.transaction((run) => run(given[this.database.dialect], parameters));
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
