import type { Chunk } from '../../../core/knowledge/document.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { StoredContent } from '../contents/content.js';

const chunksAtOnce = 128;

/** The chunks of the published version, to be embedded anew. */
export async function* storedChunks(base: BaseInDatabase, content: StoredContent): AsyncIterable<Chunk> {
  for (let from = 0; ; ) {
    const chunks = await base.vectorStore.published(base.id, content.id, from, chunksAtOnce);
    yield* chunks;
    const last = chunks.at(-1);
    if (last === undefined || chunks.length < chunksAtOnce) return;
    from = last.position + 1;
  }
}
