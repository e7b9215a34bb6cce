import { newId } from '../../../ids.js';
import type { Media, MediaContents, MediaKind } from '../../../media/media.js';

/** Stores a picture or a sound that a model made. */
export async function storeMedia(
  contents: MediaContents,
  mimeType: string,
  bytes: Uint8Array,
): Promise<Media & { readonly hash: string }> {
  const hash = await contents.put(bytes);
  return { kind: kindOf(mimeType), id: newId(), hash, mimeType, size: bytes.byteLength };
}

/** The same for one that the provider keeps at an address. */
export function linkedMedia(mimeType: string, url: string): Media {
  return { kind: kindOf(mimeType), id: newId(), url, mimeType };
}

function kindOf(mimeType: string): MediaKind {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}
