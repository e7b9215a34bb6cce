declare module '../../platform/storage/schema.js' {
  interface Schema {
    recall_vectors: RecallVectorsTable;
  }
}

/** What a completed run is found by. Whose run it is, and whether it is still there, is said by `runs` alone. */
export interface RecallVectorsTable {
  run_id: string;
  /** `provider:id` of what made the vector. */
  embedder: string;
  vector: Uint8Array;
}
