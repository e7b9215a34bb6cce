import type { FetchedMedia } from '../../core/media/media.js';
import { fetchContent } from '../../platform/net/fetch-content.js';

export interface MediaFetchSettings {
  readonly fetchAllowedHosts: readonly string[];
  readonly fetchTimeoutMs: number;
  readonly maxUploadBytes: number;
}

/** The turns of a run show the model the same files again, one soon after the other. */
const keptMs = 60_000;

interface Kept {
  readonly media: Promise<FetchedMedia>;
  readonly until: number;
  size: number;
}

/** Fetches media that callers name by URL, through the guard. What was fetched is kept for a while, within bounds. */
export function mediaFetch(
  settings: MediaFetchSettings,
  now: () => number = () => performance.now(),
): (url: string) => Promise<FetchedMedia> {
  const kept = new Map<string, Kept>();
  let size = 0;
  const forget = (url: string, entry: Kept) => {
    if (kept.get(url) !== entry) return;
    kept.delete(url);
    size -= entry.size;
  };
  const makeRoom = () => {
    for (const [url, entry] of kept) {
      // the oldest come first
      if (entry.until > now() && size <= settings.maxUploadBytes && kept.size <= mostKept) return;
      forget(url, entry);
    }
  };
  return (url) => {
    makeRoom();
    const known = kept.get(url);
    if (known) return known.media;
    const entry: Kept = { media: fetched(url, settings), until: now() + keptMs, size: 0 };
    kept.set(url, entry);
    entry.media.then(
      ({ bytes }) => {
        if (kept.get(url) !== entry) return;
        entry.size = bytes.length;
        size += bytes.length;
      },
      () => forget(url, entry),
    );
    return entry.media;
  };
}

const mostKept = 1_000;

async function fetched(url: string, settings: MediaFetchSettings): Promise<FetchedMedia> {
  const { contentType, bytes } = await fetchContent(url, {
    allowedHosts: settings.fetchAllowedHosts,
    maxBytes: settings.maxUploadBytes,
    timeoutMs: settings.fetchTimeoutMs,
  });
  return { bytes, mimeType: contentType };
}
