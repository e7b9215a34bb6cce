import { BodyTooLarge } from './bounded-body.js';
import { FetchRefused, guardedFetch } from './guarded-fetch.js';

/** The limits of a fetch of an address that a user named. */
export interface FetchLimits {
  /** Hosts that may be reached although their addresses are not public: `host` or `host:port`. */
  readonly allowedHosts: readonly string[];
  readonly maxBytes: number;
  /** For the whole of it, redirects included. */
  readonly timeoutMs: number;
  /** Default 5. */
  readonly maximumRedirects?: number;
  readonly signal?: AbortSignal;
}

export interface FetchedContent {
  /** Without its parameters; undefined when the server does not say. */
  readonly contentType: string | undefined;
  readonly bytes: Uint8Array;
}

/** Fetches the content of an address through the guard. The user who named the address may see its errors. */
export async function fetchContent(address: string, limits: FetchLimits): Promise<FetchedContent> {
  const { allowedHosts, maxBytes, timeoutMs, maximumRedirects, signal } = limits;
  try {
    const { status, headers, body } = await guardedFetch(address, {
      allowedHosts,
      maximumBytes: maxBytes,
      timeoutMs,
      ...(maximumRedirects !== undefined && { maximumRedirects }),
      ...(signal && { signal }),
    });
    if (status !== 200) throw new FetchRefused(`The address answered with status ${status}.`);
    const contentType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    return { contentType: contentType || undefined, bytes: body };
  } catch (error) {
    signal?.throwIfAborted();
    throw shownFault(error);
  }
}

/** What the user who named an address may see of a fetch that failed. */
export function shownFault(error: unknown): FetchRefused {
  if (error instanceof FetchRefused) return error;
  if (error instanceof BodyTooLarge) return new FetchRefused(error.message);
  // what the network says may name hosts behind the address
  return new FetchRefused('The address could not be reached.');
}
