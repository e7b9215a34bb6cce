declare module '../../platform/storage/schema.js' {
  interface Schema {
    cached_responses: CachedResponsesTable;
  }
}

/** An answer of a model, under the hash of what the model was given. */
export interface CachedResponsesTable {
  cache_key: string;
  /** The session of the call that was answered. */
  session_id: string;
  /** As JSON. */
  response: string;
  expires_at: number;
}
