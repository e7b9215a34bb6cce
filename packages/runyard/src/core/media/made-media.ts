import type { Media, MediaContents } from './media.js';
import { isOwned } from './owned-media.js';

/** A picture, a sound, a film or a document that a run made. */
export interface MadeMedia extends Media {
  /** Reads its bytes from where they are kept; those of an address are fetched. */
  bytes(): Promise<Uint8Array>;
}

export function madeMedia(media: readonly Media[] = [], contents: MediaContents): readonly MadeMedia[] {
  return media.map((one) => {
    // those that the run does not keep are soon removed: they are read now, for whenever the caller asks
    const read = isOwned(one) ? bytesOf(one, contents) : undefined;
    read?.catch(() => {});
    return { ...one, bytes: () => read ?? bytesOf(one, contents) };
  });
}

async function bytesOf({ kind, id, hash, url }: Media, contents: MediaContents): Promise<Uint8Array> {
  const kept = hash === undefined ? undefined : await contents.get(hash);
  if (kept !== undefined) return kept;
  if (url === undefined) throw new Error(`The bytes of the ${kind} '${id}' are no longer kept.`);
  if (contents.fetch === undefined)
    throw new Error(
      `The ${kind} '${id}' is at ${url}: fetch it there. Without a service nothing is fetched.`,
    );
  return (await contents.fetch(url)).bytes;
}
