import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { UploadStore } from '../../../src/capabilities/knowledge/uploads/upload-store.js';
import { statement } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';

const later = 2 ** 52;

async function read(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

forEachDatabase((dialect, freshPlace) => {
  it('keeps uploads whole until they are removed, and those of contents that wait however long it takes', async () => {
    const database = await (await freshPlace()).open();
    const uploads = new UploadStore(database);
    const bytes = Buffer.alloc(34 * 1_048_576, 'knowledge ');
    const parts = [bytes.subarray(0, 10), bytes.subarray(10, 5_000_000), bytes.subarray(5_000_000)];
    const upload = await uploads.write(parts);
    expect(upload).toMatchObject({
      size: bytes.length,
      digest: createHash('sha256').update(bytes).digest('hex'),
    });
    expect((await read(uploads.open(upload))).equals(bytes)).toBe(true);

    const interrupted = async function* () {
      yield bytes.subarray(0, 3_000_000);
      throw new Error('the client left');
    };
    await expect(uploads.write(interrupted())).rejects.toThrow('the client left');
    const ids = () => database.query.selectFrom('knowledge_uploads').select('upload_id').distinct().execute();
    expect(await ids()).toEqual([{ upload_id: upload.uploadId }]);

    const content = statement(
      '',
      `INSERT INTO knowledge_contents (knowledge_id, content_id, description, size, status, status_message, request,
         job_id, published, search_text, created_at, updated_at) VALUES ('k', 'c', '', 1, 'processing', '', ?, 'j', 0, '', 1, 1)`,
    )[dialect];
    await database.transaction((run) => run(content, [JSON.stringify({ from: upload })]));
    const unused = await uploads.write([bytes.subarray(0, 2_000_000)]);
    await uploads.removeBefore(later);
    expect(await ids()).toEqual([{ upload_id: upload.uploadId }]);
    await expect(read(uploads.open(unused))).rejects.toThrow('2000000 of 2000000 bytes');

    await uploads.remove(upload);
    expect(await ids()).toEqual([]);
  });
});
