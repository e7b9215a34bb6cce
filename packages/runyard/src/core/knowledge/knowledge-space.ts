import type { JsonObject } from '../json.js';
import type { KnowledgeFilter } from './filter.js';
import type { FoundChunk, SearchType } from './vector-store.js';

/** A search, as code asks for it. */
export interface KnowledgeSearch {
  /** Default: that of the knowledge base. */
  readonly type?: SearchType | undefined;
  /** Default: `maxResults` of the knowledge base. */
  readonly limit?: number | undefined;
  /** Metadata that chunks have to have, or expressions of the filter language. */
  readonly filter?: JsonObject | readonly JsonObject[] | KnowledgeFilter | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The same with the filter as it was read. */
export interface ReadSearch extends Omit<KnowledgeSearch, 'filter'> {
  readonly filter?: KnowledgeFilter | undefined;
}

export interface FoundDocument extends FoundChunk {
  /** Set by a reranker, from 0 to 1. */
  readonly rerankingScore: number | undefined;
}

/** A content to be added. `metadata` is what filters see. */
export interface GivenContent {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** What `type` shows; left out: what the kind of content says. */
  readonly type?: string | undefined;
  readonly from: GivenFrom;
  /** The id of a reader. Left out: what fits. */
  readonly reader?: string | undefined;
  /** The key of a chunker, with its parameters. Left out: that of the knowledge base, or of the reader. */
  readonly chunker?: string | undefined;
  readonly chunkSize?: number | undefined;
  readonly chunkOverlap?: number | undefined;
}

export type GivenFrom =
  | { readonly text: string }
  | { readonly bytes: Uint8Array; readonly filename: string; readonly mediaType?: string }
  | { readonly url: string | readonly string[] }
  /** A file of this machine: from code alone, never from a request. */
  | { readonly path: string }
  | {
      readonly source: string;
      readonly path: string;
      readonly parameters?: Readonly<Record<string, string>>;
    };

export type ContentStatus = 'processing' | 'completed' | 'failed';

export interface KnowledgeContent {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly type: string | null;
  readonly size: number;
  readonly metadata: JsonObject | null;
  readonly status: ContentStatus;
  readonly statusMessage: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a database does for a knowledge base: this is what runs and code call. */
export interface KnowledgeSpace {
  search(text: string, search: ReadSearch): Promise<readonly FoundDocument[]>;
  /** The metadata keys that filters can name, sorted: those of the contents that have this metadata. */
  filterKeys(within?: JsonObject): Promise<readonly string[]>;
  /** Stores the content; it is indexed in the background. The same content under the same id is not indexed again. */
  add(content: GivenContent): Promise<KnowledgeContent>;
  /** Adds a content unless that was done under this key before, whatever has become of it since then. */
  addOnce(key: string, content: GivenContent): Promise<void>;
  get(contentId: string): Promise<KnowledgeContent | undefined>;
  /** Resolves when the content is no longer `processing`. */
  processed(contentId: string, signal?: AbortSignal): Promise<KnowledgeContent | undefined>;
  remove(contentId: string): Promise<void>;
}
