import type { ChunkerOptions } from '../../core/knowledge/chunkers/chunker.js';
import type { Document } from '../../core/knowledge/document.js';
import type { DocumentLimits } from './limits.js';

/** What a content is, without its bytes: those follow when the process asks for them. */
export interface ContentHead {
  readonly name: string | null;
  readonly mediaType: string | undefined;
  readonly size: number | undefined;
  readonly url?: string | undefined;
}

/** What the process is asked to do: to read a content, or to split a document. */
export interface ParseJob {
  readonly kind: 'parse';
  /** The id of the reader. */
  readonly reader: string;
  readonly content: ContentHead;
  readonly limits: DocumentLimits;
}

export interface SplitJob {
  readonly kind: 'split';
  /** The key of a built-in chunker. */
  readonly chunker: string;
  readonly options: ChunkerOptions;
  readonly document: Document;
}

/** To the process. It asks for everything but the job itself, so that neither side runs ahead of the other. */
export type ToProcess =
  | ParseJob
  | SplitJob
  /** Undefined after the last ones. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array | undefined }
  /** The documents were taken. */
  | { readonly kind: 'taken' };

/** From the process. Each is an answer to the last message to it, and waits for the next one. */
export type FromProcess =
  /** Asks for the next bytes; `fresh`: for the first ones. */
  | { readonly kind: 'pull'; readonly fresh: boolean }
  /** Or chunks. How many pages, rows or entries are done, and how many there are if that is known. */
  | {
      readonly kind: 'documents';
      readonly documents: readonly Document[];
      readonly done: number;
      readonly total: number | undefined;
    }
  | { readonly kind: 'done' }
  /** `unreadable`: the message is for the owner of the content; else it is for the log. */
  | { readonly kind: 'failed'; readonly unreadable: boolean; readonly message: string };
