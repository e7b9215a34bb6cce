import type { ReadableContent } from '../../core/knowledge/readers/reader.js';
import type { ContentHead, FromProcess, ToProcess } from './protocol.js';

/** The content of a job: its bytes come from the parent, piece by piece, when they are asked for. */
export function contentFrom(
  head: ContentHead,
  ask: (message: FromProcess) => Promise<ToProcess>,
): ReadableContent {
  return {
    ...head,
    async *open() {
      for (let fresh = true; ; fresh = false) {
        const answer = await ask({ kind: 'pull', fresh });
        if (answer.kind !== 'bytes' || answer.bytes === undefined) return;
        yield answer.bytes;
      }
    },
  };
}

/** A content that is in memory already: an entry of an archive, an attachment. */
export function contentOf(bytes: Uint8Array, name: string, mediaType?: string): ReadableContent {
  return {
    name,
    mediaType,
    size: bytes.length,
    async *open() {
      yield bytes;
    },
  };
}
