import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { MediaContents } from '../../core/media/media.js';
import type { MemoryChange, UserMemories, UserMemory } from '../../core/memory/user-memories.js';
import type { ModelLike } from '../../core/models/resolve.js';
import type { Caller } from '../../platform/auth/caller.js';
import { refuseReserved } from '../../platform/auth/named-user.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { Database } from '../../platform/storage/database.js';
import { mergingModel } from './merging-model.js';
import { type Optimized, optimizeMemories } from './optimize.js';
import { isMemorySort } from './order-store.js';
import type { MemoryFilter } from './selection-store.js';
import { type MemoryOwner, MemoryStore } from './store.js';
import { type StoredMemory, tidyTopics } from './stored-memory.js';
import { TokenCounter } from './token-count.js';
import { MemoryWriteStore } from './write-store.js';

/** How many words of a run's search count. */
const mostWords = 30;

/** The memories of one database. To runs they are those of one person at a time. */
export class DatabaseMemories implements UserMemories {
  readonly store: MemoryStore;
  readonly writing: MemoryWriteStore;

  constructor(database: Database) {
    this.store = new MemoryStore(database);
    this.writing = new MemoryWriteStore(database);
  }

  async list(userId: string, limit: number): Promise<readonly UserMemory[]> {
    return (await this.store.newest(userId, limit)).map(withTopics);
  }

  async search(userId: string, query: string, limit: number): Promise<readonly UserMemory[]> {
    const words = query.split(/\s+/).filter((word) => word !== '');
    return (await this.store.search(userId, words.slice(0, mostWords), limit)).map(withTopics);
  }

  async find(userId: string, memoryId: string): Promise<UserMemory | undefined> {
    const memory = await this.store.find({ kind: 'user', userId }, memoryId);
    return memory && withTopics(memory);
  }

  change(userId: string, changes: readonly MemoryChange[], now: number): Promise<void> {
    return this.writing.change(userId, changes, now);
  }
}

function withTopics(memory: StoredMemory): UserMemory {
  return { ...memory, topics: memory.topics ?? [] };
}

/** Where the memories are: one part for each database, of which a request chooses one. */
export interface MemorySpaces {
  choose(
    query: DatabaseQuery,
  ): Promise<{ readonly memories: DatabaseMemories; readonly media: { readonly contents: MediaContents } }>;
}

export interface MemoriesOptions {
  readonly spaces: MemorySpaces;
  /** The model that memories are optimized with when a request names none. */
  readonly defaultModel: () => ModelLike | undefined | Promise<ModelLike | undefined>;
  readonly tokens?: TokenCounter;
}

/** A memory to write. */
export interface GivenMemory {
  readonly memory: string;
  readonly topics: readonly string[];
  /** The owner, in the words of the request. */
  readonly userId: string | undefined;
}

/** By a name that is not known: the default order. */
export interface AskedOrder {
  readonly by: string;
  readonly direction: 'asc' | 'desc';
}

export interface OptimizeRequest {
  readonly userId: string;
  readonly model: string | undefined;
  readonly apply: boolean;
  readonly signal: AbortSignal;
}

/** The memories about users, for themselves and for operators to read and correct. */
export class MemoriesService {
  private readonly tokens: TokenCounter;

  constructor(private readonly options: MemoriesOptions) {
    this.tokens = options.tokens ?? new TokenCounter();
  }

  async create(caller: Caller, database: DatabaseQuery, given: GivenMemory): Promise<StoredMemory> {
    refuseReserved(caller, given.userId);
    const userId = ownerFor(caller, given.userId);
    const { writing } = await this.memories(database);
    const now = Date.now();
    const added = {
      memoryId: newId(),
      memory: given.memory,
      topics: tidyTopics(given.topics),
      agentId: null,
      teamId: null,
    };
    await writing.change(userId, [{ kind: 'add', ...added, input: null }], now);
    return { ...added, userId, createdAt: now, updatedAt: now };
  }

  async list(
    { scope }: Caller,
    database: DatabaseQuery,
    filter: MemoryFilter,
    { by, direction }: AskedOrder,
    page: PageRequest,
  ): Promise<ListPage<StoredMemory>> {
    const { store } = await this.memories(database);
    const order = isMemorySort(by) ? ({ by, direction } as const) : defaultOrder;
    return store.list(scope, filter, order, { offset: offsetOf(page), limit: page.limit });
  }

  async get(
    caller: Caller,
    database: DatabaseQuery,
    memoryId: string,
    userId?: string,
  ): Promise<StoredMemory> {
    const { store } = await this.memories(database);
    const memory = await store.find(caller.scope, memoryId, userId);
    if (memory === undefined) throw errors.memoryNotFound(memoryId);
    return memory;
  }

  /** Puts another text and other topics in the place of those of a memory. Everything else of it stays. */
  async update(
    caller: Caller,
    database: DatabaseQuery,
    memoryId: string,
    { memory, topics, userId }: GivenMemory,
  ): Promise<StoredMemory> {
    const owner = ownerFor(caller, userId);
    const { writing } = await this.memories(database);
    const change = { kind: 'update', memoryId, memory, topics } as const;
    const updated = await writing.update(owner, change, Date.now());
    if (updated === undefined) throw errors.memoryNotFound();
    return updated;
  }

  async delete(
    { scope }: Caller,
    database: DatabaseQuery,
    memoryIds: readonly string[],
    userId?: string,
  ): Promise<void> {
    await (await this.memories(database)).writing.delete(scope, memoryIds, userId);
  }

  async topics({ scope }: Caller, database: DatabaseQuery, userId?: string): Promise<readonly string[]> {
    return (await this.memories(database)).store.topics(scope, userId);
  }

  async owners(
    { scope }: Caller,
    database: DatabaseQuery,
    page: PageRequest,
    userId?: string,
  ): Promise<ListPage<MemoryOwner>> {
    const { store } = await this.memories(database);
    return store.owners(scope, { offset: offsetOf(page), limit: page.limit }, userId);
  }

  async optimize(caller: Caller, database: DatabaseQuery, request: OptimizeRequest): Promise<Optimized> {
    const { memories, media } = await this.options.spaces.choose(database);
    const { apply, signal } = request;
    return optimizeMemories({
      store: memories.store,
      writing: memories.writing,
      tokens: this.tokens,
      model: await mergingModel(request.model, this.options.defaultModel),
      media: media.contents,
      userId: ownerFor(caller, request.userId),
      apply,
      signal,
    });
  }

  private async memories(database: DatabaseQuery): Promise<DatabaseMemories> {
    return (await this.options.spaces.choose(database)).memories;
  }
}

const defaultOrder = { by: 'updated_at', direction: 'desc' } as const;

/** Whose memory it is: a caller who sees only their own writes only that; others name a user, or mean themselves. */
function ownerFor({ scope, userId: proven }: Caller, given: string | undefined): string {
  const owner = scope.kind === 'all' ? (given ?? proven) : proven;
  // a memory without an owner is about no user
  if (owner === null) throw errors.userRequired();
  return owner;
}
