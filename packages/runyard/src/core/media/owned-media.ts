import { createHash } from 'node:crypto';
import type { Media, MediaContents } from './media.js';

/*
 * A run that does not keep its media stores bytes under a key of its own: no other run can refer to them, so that they
 * are removed with its end whatever other runs have stored.
 */
const sign = 'run-';

/** The key of bytes; `owner` is the run that they belong to, left out for bytes that all runs share. */
export function mediaKey(bytes: Uint8Array, owner: string | undefined): string {
  if (owner === undefined) return createHash('sha256').update(bytes).digest('hex');
  return sign + createHash('sha256').update(JSON.stringify(owner)).update(bytes).digest('hex');
}

export function isOwned({ hash }: Media): boolean {
  return hash?.startsWith(sign) ?? false;
}

/** The same contents, where what is stored belongs to a run. */
export function ownedBy(owner: string, contents: MediaContents): MediaContents {
  return {
    put: (bytes) => contents.put(bytes, owner),
    get: (hash) => contents.get(hash),
    ...(contents.fetch !== undefined && { fetch: contents.fetch.bind(contents) }),
  };
}

/** What is known of media whose content is not kept. */
export function withoutContent({ hash: _hash, url: _url, ...facts }: Media): Media {
  return facts;
}

export function hasContent({ hash, url }: Media): boolean {
  return hash !== undefined || url !== undefined;
}
