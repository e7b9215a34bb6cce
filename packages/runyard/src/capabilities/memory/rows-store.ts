import type { Database } from '../../platform/storage/database.js';
import { searchText } from '../../platform/storage/search-text.js';
import { storedJsonOrNull } from '../../platform/storage/text.js';
import type { StoredMemory } from './stored-memory.js';
import type { MemoriesTable } from './tables.js';

/** What is read of a memory: all but what only searches need. */
export const memoryColumns = [
  'memory_id',
  'user_id',
  'agent_id',
  'team_id',
  'memory',
  'topics',
  'created_at',
  'updated_at',
] as const;

export type MemoryRow = Pick<MemoriesTable, (typeof memoryColumns)[number]>;

export function memoryFromRow(row: MemoryRow): StoredMemory {
  return {
    memoryId: row.memory_id,
    userId: row.user_id,
    memory: row.memory,
    topics: storedJsonOrNull(row.topics),
    agentId: row.agent_id,
    teamId: row.team_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Letters can become several when they are folded; an index takes entries of some 2,700 bytes. */
const longestFoldedTopic = 500;

/** A topic as it is looked up. */
export function foldedTopic(topic: string): string {
  return searchText(topic.trim()).slice(0, longestFoldedTopic);
}

/** The condition that a column is one of a list, which is one parameter. */
export function inList({ dialect }: Database, column: string): string {
  return dialect === 'sqlite' ? `${column} IN (SELECT value FROM json_each(?))` : `${column} = ANY(?)`;
}
