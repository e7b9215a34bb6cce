declare module '../../../platform/storage/schema.js' {
  interface Schema {
    knowledge_indexes: KnowledgeIndexesTable;
    knowledge_versions: KnowledgeVersionsTable;
  }
}

export interface KnowledgeIndexesTable {
  knowledge_no: number;
  knowledge_id: string;
  /** Counts what searches see change. */
  change: number;
  /** What changed up to this number may no longer be in `knowledge_versions`. */
  pruned_change: number;
  /** Of all published versions. */
  chunks: number;
  tokens: number;
}

/** Only staged and published versions have chunks for certain; a retired one is losing them. */
export type VersionState = 'staged' | 'published' | 'retired' | 'gone';

export interface KnowledgeVersionsTable {
  version_no: number;
  knowledge_no: number;
  content_id: string;
  generation: string;
  embedder: string;
  dimensions: number;
  state: VersionState;
  /** The change of the index with which searches began or ceased to see it. */
  changed: number;
  chunks: number;
  tokens: number;
}
