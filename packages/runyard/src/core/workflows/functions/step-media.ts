import type { Media, MediaContents } from '../../media/media.js';
import type { StepMedia } from '../definition/functions.js';

/** Media with a way to its bytes. That is not enumerable: as data, it is the same media as before. */
export function readableMedia(media: readonly Media[], contents: MediaContents): readonly StepMedia[] {
  return media.map((item) => {
    const bytes = { value: () => bytesOf(item, contents) };
    // the property is what `StepMedia` adds
    return Object.defineProperty({ ...item }, 'bytes', bytes) as StepMedia;
  });
}

async function bytesOf({ id, hash, url }: Media, contents: MediaContents): Promise<Uint8Array> {
  if (hash !== undefined) {
    const stored = await contents.get(hash);
    if (stored === undefined) throw new Error(`The content of media '${id}' is no longer stored.`);
    return stored;
  }
  if (url === undefined || contents.fetch === undefined)
    throw new Error(`The content of media '${id}' cannot be read here: it has only an address.`);
  return (await contents.fetch(url)).bytes;
}
