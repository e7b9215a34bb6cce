import type { Document } from '../document.js';

/** The bytes of a content, with what is known about them before they are read. */
export interface ReadableContent {
  /** The file name or the last part of the path; null for a text without a name. */
  readonly name: string | null;
  /** The MIME type without parameters, in lower case. */
  readonly mediaType: string | undefined;
  /** In bytes, if it is known. */
  readonly size: number | undefined;
  /** Where it came from, for readers that resolve links. */
  readonly url?: string | undefined;
  /** The bytes, from the start, each time it is called. */
  open(): AsyncIterable<Uint8Array>;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called while a long content is read: pages done, and how many there are if that is known. */
  readonly onProgress?: (done: number, total: number | undefined) => void;
}

/** Makes documents of one kind of content. It holds no state: many contents are read at once. */
export interface Reader {
  /** As requests name it: `pdf`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** File extensions (`.pdf`), MIME types (`application/pdf`), `url` or `youtube`: what it is chosen for by itself. */
  readonly types: readonly string[];
  /** The keys of the chunkers that fit its documents. */
  readonly chunkers: readonly string[];
  /** The key of the one that is used when none is named; undefined: its documents are chunks already. */
  readonly defaultChunker: string | undefined;
  read(content: ReadableContent, options: ReadOptions): AsyncIterable<Document>;
}

/** A content that its reader cannot read. The message is for the owner of the content. */
export class ContentUnreadable extends Error {
  constructor(message = 'Content could not be read', options?: ErrorOptions) {
    super(message, options);
    this.name = 'ContentUnreadable';
  }
}
