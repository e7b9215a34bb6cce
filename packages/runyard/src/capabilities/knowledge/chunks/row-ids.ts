import { createHash } from 'node:crypto';
import { errors } from '../../../core/errors/errors.js';

/** Chunks of one content. The rows of a version have the numbers from `version * maximumChunks` on. */
export const maximumChunks = 2 ** 20;

export function rowIdOf(versionNo: number, position: number): number {
  if (position >= maximumChunks) throw errors.tooManyChunks(maximumChunks);
  return versionNo * maximumChunks + position;
}

export function versionOf(rowId: number): number {
  return Math.floor(rowId / maximumChunks);
}

export function positionOf(rowId: number): number {
  return rowId % maximumChunks;
}

/** The rows of a version: from the first to before the second. */
export function rangeOf(versionNo: number): readonly [number, number] {
  return [versionNo * maximumChunks, (versionNo + 1) * maximumChunks];
}

/** What callers know a chunk by. It stays the same when its content is indexed anew. */
export function chunkIdOf(knowledgeId: string, contentId: string, position: number): string {
  return createHash('md5')
    .update(JSON.stringify([knowledgeId, contentId, position]))
    .digest('hex');
}
