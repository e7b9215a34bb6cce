import { type Database, statement } from '../../../platform/storage/database.js';
import type {} from '../tables.js';

/** A vector that was not used for so long is forgotten. */
const keptMs = 30 * 86_400_000;
/** The time of use is written down at most this often. */
const noticedMs = 86_400_000;

const putVector = statement(
  'put_knowledge_embedding',
  `INSERT INTO knowledge_embeddings (hash, vector, used_at) VALUES (?, ?, ?)
   ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at`,
);

const findUnused = statement(
  'find_unused_knowledge_embedding',
  'SELECT 1 FROM knowledge_embeddings WHERE used_at < ? LIMIT 1',
);

const removeUnused = statement(
  'remove_unused_knowledge_embeddings',
  'DELETE FROM knowledge_embeddings WHERE used_at < ?',
);

/** Vectors by the hash of their embedder and text. */
export class EmbeddingStore {
  constructor(private readonly database: Database) {}

  async get(hashes: readonly string[]): Promise<Map<string, Float32Array>> {
    if (hashes.length === 0) return new Map();
    const rows = await this.database.query
      .selectFrom('knowledge_embeddings')
      .where('hash', 'in', [...hashes])
      .selectAll()
      .execute();
    const now = Date.now();
    const aged = rows.filter((row) => now - Number(row.used_at) > noticedMs).map((row) => row.hash);
    if (aged.length > 0)
      await this.database.query
        .updateTable('knowledge_embeddings')
        .set({ used_at: now })
        .where('hash', 'in', aged)
        .execute();
    return new Map(rows.map((row) => [row.hash, floatsOf(row.vector)]));
  }

  async put(vectors: ReadonlyMap<string, Float32Array>): Promise<void> {
    const now = Date.now();
    await this.database.transaction(async (run) => {
      for (const [hash, vector] of vectors)
        await run(putVector[this.database.dialect], [
          hash,
          new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
          now,
        ]);
    });
  }

  async removeUnused(): Promise<void> {
    const before = Date.now() - keptMs;
    if ((await this.database.read(findUnused, [before])).length === 0) return;
    await this.database.transaction((run) => run(removeUnused[this.database.dialect], [before]));
  }
}

/** The bytes of a row may begin anywhere in a buffer: numbers need their own. */
function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}
