import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { MediaService } from '../../../src/capabilities/media/service.js';
import { MediaStore } from '../../../src/capabilities/media/store.js';
import { UploadedFile } from '../../../src/platform/http/request/uploaded-file.js';
import { forEachDatabase } from '../../support/databases.js';

forEachDatabase((_dialect, freshPlace) => {
  it('gives back the bytes under their SHA-256', async () => {
    const media = new MediaStore(await (await freshPlace()).open());
    for (const bytes of [
      randomBytes(3_000_000),
      randomBytes(10),
      new Uint8Array([0, 255, 0]),
      new Uint8Array(),
    ]) {
      const hash = await media.put(bytes);
      expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'));
      const stored = await media.get(hash);
      expect(stored).toBeInstanceOf(Uint8Array);
      expect(Buffer.from(stored!).equals(bytes)).toBe(true);
    }
    expect(await media.get('0'.repeat(64))).toBeUndefined();
  });

  it('holds the bytes of an upload no longer once they are stored', async () => {
    const service = new MediaService(await (await freshPlace()).open());
    const bytes = randomBytes(1000);
    const file = new UploadedFile('a.png', 'image/png', bytes);
    const [media] = await service.fromUploads([file]);
    expect([media!.size, file.size]).toEqual([1000, 1000]);
    expect(() => file.bytes).toThrow('The bytes of a.png were released.');
    expect(Buffer.from((await service.contents.get(media!.hash!))!).equals(bytes)).toBe(true);
  });

  it('stores the same content once, also when it comes many times at once', async () => {
    const database = await (await freshPlace()).open();
    const media = new MediaStore(database);
    const bytes = randomBytes(1000);
    const hashes = await Promise.all(Array.from({ length: 10 }, () => media.put(bytes)));
    expect(new Set(hashes).size).toBe(1);
    const rows = await database.query.selectFrom('media_contents').select('size').execute();
    expect(rows).toEqual([{ size: 1000 }]);
  });
});
