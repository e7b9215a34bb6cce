import type { JsonObject } from '../json.js';

/** What a reader makes of a content: a whole text, a page, a sheet, a row. */
export interface Document {
  readonly name: string | null;
  readonly content: string;
  /** What the reader knows about it: `page`, `sheet_name`, `url`. */
  readonly metadata: JsonObject;
}

/** A part of a document that is embedded and found as a whole. */
export interface Chunk {
  readonly content: string;
  /** That of its document, and `chunk` (from 1) and `chunk_size` (characters) where the document was split. */
  readonly metadata: JsonObject;
}
