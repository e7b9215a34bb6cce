import type { JsonObject } from '../../../core/json.js';
import type { ContentStatus, KnowledgeContent } from '../../../core/knowledge/knowledge-space.js';

/** What is indexed: everything that a job needs, but no bytes and no credentials. */
export interface ContentRequest {
  readonly from: RequestedFrom;
  readonly reader?: string | undefined;
  readonly chunker?: string | undefined;
  readonly chunkSize?: number | undefined;
  readonly chunkOverlap?: number | undefined;
}

export type RequestedFrom =
  /** Bytes that wait in the spool: a text or a file. */
  | {
      readonly kind: 'upload';
      readonly uploadId: string;
      /** Null for a text. */
      readonly filename: string | null;
      readonly mediaType?: string | undefined;
    }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | {
      readonly kind: 'source';
      readonly source: string;
      readonly path: string;
      readonly parameters: Readonly<Record<string, string>>;
    };

/** A content as it is stored. */
export interface StoredContent extends KnowledgeContent {
  readonly knowledgeId: string;
  /** Where it comes from, shown as `_agno`. */
  readonly provenance: JsonObject | null;
  readonly digest: string | null;
  readonly request: ContentRequest;
  readonly parentId: string | null;
  readonly jobId: string;
  /** Searches find a version of it. */
  readonly published: boolean;
  readonly deletedAt: number | null;
}

/** How the indexing of a content ended. */
export interface ContentOutcome {
  readonly status: Exclude<ContentStatus, 'processing'>;
  readonly message: string;
  readonly size?: number | undefined;
  readonly provenance?: JsonObject | undefined;
  /** Set when a version was published. */
  readonly embedded?: EmbeddedWith | undefined;
}

/** What the vectors of a content were made with. */
export interface EmbeddedWith {
  /** `provider:id`. */
  readonly embedder: string;
  readonly dimensions: number;
}

/**
 * Which contents a caller sees: all, those with these metadata values, or none. The values come from claims of the
 * caller's token (`claimFilters`). Every method of a store that serves a caller takes one.
 */
export type ContentScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'bound'; readonly values: JsonObject }
  | { readonly kind: 'none' };

/** Of a service's own work: jobs, code, commands. */
export const everyContent: ContentScope = { kind: 'all' };

/** Contents with these metadata values: without any, all contents. */
export function contentsWith(values: JsonObject): ContentScope {
  return Object.keys(values).length === 0 ? everyContent : { kind: 'bound', values };
}
