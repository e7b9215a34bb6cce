declare module '../../platform/storage/schema.js' {
  interface Schema {
    learnings: LearningsTable;
  }
}

export interface LearningsTable {
  learning_id: string;
  learning_type: string;
  namespace: string | null;
  user_id: string | null;
  agent_id: string | null;
  team_id: string | null;
  session_id: string | null;
  entity_id: string | null;
  entity_type: string | null;
  content: string;
  /** All that the content says, as searches see it. */
  search_text: string;
  metadata: string | null;
  /** JSON: keys of changes that runs have made. */
  changes: string | null;
  created_at: number;
  updated_at: number;
}
