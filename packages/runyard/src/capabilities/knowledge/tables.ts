declare module '../../platform/storage/schema.js' {
  interface Schema {
    knowledge_contents: KnowledgeContentsTable;
    knowledge_metadata: KnowledgeMetadataTable;
    knowledge_embeddings: KnowledgeEmbeddingsTable;
  }
}

export interface KnowledgeContentsTable {
  knowledge_id: string;
  content_id: string;
  name: string | null;
  description: string;
  /** JSON: the keys of users, without those of Runyard. */
  metadata: string | null;
  /** JSON: where it comes from, shown as `_agno`. */
  provenance: string | null;
  type: string | null;
  size: number;
  status: string;
  status_message: string;
  /** SHA-256 of the bytes; null until they are known. */
  digest: string | null;
  /** JSON: what is to be indexed, and how. */
  request: string;
  parent_id: string | null;
  /** The job that indexes it, or indexed it last. */
  job_id: string;
  /** A version of it has been published: searches find it. */
  published: number;
  /** `provider:id` of the embedder of the published version, and the length of its vectors. */
  embedder: string | null;
  dimensions: number | null;
  /** Name and description as searches of the list see them. */
  search_text: string;
  /** When it was deleted: it is gone for everyone, and its rows and chunks are being removed. */
  deleted_at: number | null;
  created_at: number;
  updated_at: number;
}

/** One row for each metadata key of each content: what lists filter by, and the names that filters can use. */
export interface KnowledgeMetadataTable {
  knowledge_id: string;
  content_id: string;
  key: string;
  /** The value as JSON, or its hash where it is long. */
  value: string;
}

/** Vectors by the hash of their text, so that the same text is not embedded twice. */
export interface KnowledgeEmbeddingsTable {
  /** SHA-256 of the embedder's identity and the text. */
  hash: string;
  vector: Uint8Array;
  used_at: number;
}
