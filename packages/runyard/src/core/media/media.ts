import type { JsonObject } from '../json.js';

export type MediaKind = 'image' | 'audio' | 'video' | 'file';

/**
 * A picture, a sound, a film or a document that belongs to a message. Its bytes are either at a URL, or stored
 * once under their content hash; a Media value never holds them itself. Where neither is, the run has not kept them.
 */
export interface Media {
  readonly kind: MediaKind;
  readonly id: string;
  readonly url?: string;
  /** SHA-256 of the bytes, the key under which `MediaContents` holds them. */
  readonly hash?: string;
  readonly mimeType?: string;
  readonly format?: string;
  readonly filename?: string;
  readonly size?: number;
  /** The rest of the wire's fields for this kind (detail, alt_text, duration …), handed through untouched. */
  readonly details?: JsonObject;
}

/** How many media of one kind a run may be given. */
export const mostMedia = 100;

/** Where the bytes of media are. */
export interface MediaContents {
  /**
   * Stores the bytes once and answers with their hash. The bytes are durable when it resolves. `owner` is a run that does
   * not keep them: they are removed after it has ended, and are its own until then.
   */
  put(bytes: Uint8Array, owner?: string): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
  /**
   * Fetches the content of a given address, for models that take bytes alone. It reaches public addresses only,
   * and is bounded. The message of its error may be shown. Left out: nothing is fetched here.
   */
  fetch?(url: string): Promise<FetchedMedia>;
}

export interface FetchedMedia {
  readonly bytes: Uint8Array;
  /** As the server calls it. */
  readonly mimeType: string | undefined;
}
