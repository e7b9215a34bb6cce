import type { Optimized } from './optimize.js';
import type { MemoryOwner } from './store.js';
import type { StoredMemory } from './stored-memory.js';

export function memoryBodyOf(memory: StoredMemory) {
  return {
    memory_id: memory.memoryId,
    memory: memory.memory,
    topics: memory.topics,
    agent_id: memory.agentId,
    team_id: memory.teamId,
    user_id: memory.userId,
    updated_at: wholeSeconds(memory.updatedAt),
    created_at: wholeSeconds(memory.createdAt),
  };
}

export function ownerBodyOf({ userId, total, updatedAt }: MemoryOwner) {
  return { user_id: userId, total_memories: total, last_memory_updated_at: wholeSeconds(updatedAt) };
}

export function optimizedBodyOf({ memories, memoriesBefore, tokensBefore, tokensAfter }: Optimized) {
  const saved = tokensBefore - tokensAfter;
  return {
    memories: memories.map(memoryBodyOf),
    memories_before: memoriesBefore,
    memories_after: memories.length,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    tokens_saved: saved,
    reduction_percentage: tokensBefore === 0 ? 0 : (saved / tokensBefore) * 100,
  };
}

function wholeSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, -5)}Z`;
}
