import type { MemoryChange, UserMemories, UserMemory } from './user-memories.js';

/** How many memories of one person are kept; beyond it the oldest are forgotten. */
const keptMemories = 1_000;

/** The memories of agents that are run without a service: nothing outlives the process. */
export class InProcessMemories implements UserMemories {
  private readonly users = new Map<string, Map<string, UserMemory>>();

  async list(userId: string, limit: number): Promise<readonly UserMemory[]> {
    return this.newestFirst(userId).slice(0, limit);
  }

  async search(userId: string, query: string, limit: number): Promise<readonly UserMemory[]> {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return this.newestFirst(userId)
      .filter(({ memory, topics }) => {
        const text = [memory, ...topics].join('\n').toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .slice(0, limit);
  }

  async find(userId: string, memoryId: string): Promise<UserMemory | undefined> {
    return this.users.get(userId)?.get(memoryId);
  }

  async change(userId: string, changes: readonly MemoryChange[], now: number): Promise<void> {
    const memories = this.users.get(userId) ?? new Map<string, UserMemory>();
    this.users.set(userId, memories);
    for (const change of changes) apply(memories, userId, change, now);
    for (const memoryId of memories.keys()) {
      if (memories.size <= keptMemories) break;
      memories.delete(memoryId);
    }
  }

  private newestFirst(userId: string): UserMemory[] {
    const memories = [...(this.users.get(userId)?.values() ?? [])];
    return memories.reverse().sort((left, right) => right.updatedAt - left.updatedAt);
  }
}

function apply(memories: Map<string, UserMemory>, userId: string, change: MemoryChange, now: number): void {
  if (change.kind === 'clear') {
    for (const stored of [...memories.values()]) removeUnlessNewer(memories, stored, now);
    return;
  }
  const stored = memories.get(change.memoryId);
  if (change.kind === 'add') {
    if (stored === undefined) memories.set(change.memoryId, added(userId, change, now));
  } else if (stored !== undefined) {
    if (change.kind === 'delete') removeUnlessNewer(memories, stored, now);
    else if (stored.updatedAt <= now) {
      const { memory, topics = stored.topics } = change;
      memories.set(stored.memoryId, { ...stored, memory, topics, updatedAt: now });
    }
  }
}

function removeUnlessNewer(memories: Map<string, UserMemory>, stored: UserMemory, now: number): void {
  if (stored.updatedAt <= now) memories.delete(stored.memoryId);
}

function added(userId: string, change: MemoryChange & { readonly kind: 'add' }, now: number): UserMemory {
  const { memoryId, memory, topics, agentId, teamId } = change;
  return { memoryId, userId, memory, topics, agentId, teamId, createdAt: now, updatedAt: now };
}
