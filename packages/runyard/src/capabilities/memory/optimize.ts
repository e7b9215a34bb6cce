import { errors, RunyardError } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import { ModelError } from '../../core/models/model-error.js';
import { type Merging, mergeTexts } from './merge.js';
import type { MemoryStore } from './store.js';
import type { StoredMemory } from './stored-memory.js';
import type { TokenCounter } from './token-count.js';
import type { MemoryWriteStore } from './write-store.js';

/** The result of merging the memories of a person. */
export interface Optimized {
  /** The one that replaces them; when nothing would be gained, those that stay. */
  readonly memories: readonly StoredMemory[];
  readonly memoriesBefore: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface Optimizing extends Merging {
  readonly store: MemoryStore;
  readonly writing: MemoryWriteStore;
  readonly tokens: TokenCounter;
  readonly userId: string;
  /** Whether the memories are replaced; if not, it is only shown what they would become. */
  readonly apply: boolean;
}

/** How often it is tried when memories are changed while the model works on them. */
const mostTries = 3;

/**
 * Merges all memories of a person into one. They are replaced in one transaction, if all of them are still as they were
 * read: a memory deleted or corrected in between must not come back with the merged text. A text that is longer than
 * what it is made of replaces nothing.
 */
export async function optimizeMemories(options: Optimizing): Promise<Optimized> {
  const { store, writing, userId, apply } = options;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const before = await store.all(userId);
    if (before.length === 0) throw errors.noMemories(userId);
    const memory = await merged(before, options);
    const [tokensAfter = 0, ...counts] = await options.tokens.count(
      [memory, ...before].map((counted) => counted.memory),
    );
    const tokensBefore = counts.reduce((sum, count) => sum + count, 0);
    const known = { memoriesBefore: before.length, tokensBefore };
    if (tokensAfter > tokensBefore) return { ...known, memories: before, tokensAfter: tokensBefore };
    const done = !apply || (await writing.replace(userId, { memory, of: before }));
    if (done) return { ...known, memories: [memory], tokensAfter };
  }
  throw errors.memoriesChanged(userId);
}

async function merged(memories: readonly StoredMemory[], options: Optimizing): Promise<StoredMemory> {
  const text = await textOf(memories, options);
  const topics = [...new Set(memories.flatMap((memory) => memory.topics ?? []))];
  const now = Date.now();
  return {
    memoryId: newId(),
    userId: options.userId,
    memory: text,
    topics: topics.length > 0 ? topics : null,
    agentId: onlyOne(memories.map((memory) => memory.agentId)),
    teamId: onlyOne(memories.map((memory) => memory.teamId)),
    createdAt: now,
    updatedAt: now,
  };
}

async function textOf(memories: readonly StoredMemory[], options: Optimizing): Promise<string> {
  try {
    return await mergeTexts(
      memories.map(({ memory }) => memory),
      options,
    );
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof RunyardError) throw error;
    // the messages of models are safe for callers; anything else is for the log
    const reason = error instanceof ModelError ? error.message : 'the model failed. The log has the details.';
    throw errors.optimizeFailed(reason, error);
  }
}

/** The value that all agree on who have one. */
function onlyOne(values: readonly (string | null)[]): string | null {
  const given = new Set(values.filter((value) => value !== null));
  const [first = null] = given;
  return given.size === 1 ? first : null;
}
