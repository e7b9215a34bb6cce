import type { JsonObject } from '../../../core/json.js';
import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';

/** One readable part of a content: its file, or one of the pages that its URL led to. */
export interface ContentPart {
  readonly content: ReadableContent;
  /** The id of the reader; left out: what fits. */
  readonly reader?: string | undefined;
  /** What its chunks say beside what the reader knows: the `url` of a page. */
  readonly metadata?: JsonObject | undefined;
}

/** A part that could not be fetched. The others are indexed all the same, and the content says that this one is missing. */
export interface FailedPart {
  readonly name: string;
  readonly reason: string;
}

export type FoundPart = ContentPart | FailedPart;

export function isFailed(part: FoundPart): part is FailedPart {
  return 'reason' in part;
}
