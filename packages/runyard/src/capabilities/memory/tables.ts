declare module '../../platform/storage/schema.js' {
  interface Schema {
    memories: MemoriesTable;
    memory_topics: MemoryTopicsTable;
    memory_owners: MemoryOwnersTable;
  }
}

export interface MemoriesTable {
  memory_id: string;
  user_id: string;
  agent_id: string | null;
  team_id: string | null;
  memory: string;
  /** `searchText` of the memory. */
  search_text: string;
  topics: string | null;
  input: string | null;
  created_at: number;
  updated_at: number;
}

interface MemoryTopicsTable {
  /** `searchText` of the topic. */
  search_topic: string;
  memory_id: string;
  user_id: string;
  /** That of the memory. */
  updated_at: number;
  topic: string;
}

/** One row for each user who has memories. */
interface MemoryOwnersTable {
  user_id: string;
  /** How many. */
  total: number;
  /** Of the newest memory. */
  updated_at: number;
}
