import type { z } from 'zod';
import type {
  givenMemoryBody,
  listMemoriesQuery,
  memoriesPage,
  memoryBody,
  memoryDatabaseQuery,
  memoryOwnersPage,
  memoryOwnersQuery,
  memoryTopics,
  memoryUserQuery,
  optimizedMemories,
  optimizeMemoriesBody,
} from '../capabilities/memory/schema.js';
import type { Calls } from './calls.js';
import type { Body, Query } from './given.js';
import { type Listing, pagesOf } from './listing.js';

export type Memory = z.output<typeof memoryBody>;
type Page = z.output<typeof memoriesPage>;
type Owners = z.output<typeof memoryOwnersPage>;
type Database = Query<typeof memoryDatabaseQuery>;

/** Facts about users, as the operations at `/memories` show and change them. */
export class Memories {
  constructor(private readonly calls: Calls) {}

  list(query: Query<typeof listMemoriesQuery> = {}): Listing<Page, Memory> {
    return pagesOf(query, (paged) => this.calls.body<typeof memoriesPage>('get_memories', { query: paged }));
  }

  create(body: Body<typeof givenMemoryBody>, query: Database = {}): Promise<Memory> {
    return this.calls.body<typeof memoryBody>('create_memory', { query, body });
  }

  get(memoryId: string, query: Query<typeof memoryUserQuery> = {}): Promise<Memory> {
    return this.calls.body<typeof memoryBody>('get_memory', { params: of(memoryId), query });
  }

  /** Replaces the text and the topics. */
  update(memoryId: string, body: Body<typeof givenMemoryBody>, query: Database = {}): Promise<Memory> {
    return this.calls.body<typeof memoryBody>('update_memory', { params: of(memoryId), query, body });
  }

  /** Deletes one or several. Ids that the caller cannot see are ignored. */
  delete(memoryIds: string | readonly string[], query: Query<typeof memoryUserQuery> = {}): Promise<void> {
    if (typeof memoryIds === 'string')
      return this.calls.body('delete_memory', { params: of(memoryIds), query });
    const { user_id, ...database } = query;
    return this.calls.body('delete_memories', { query: database, body: { memory_ids: memoryIds, user_id } });
  }

  topics(query: Query<typeof memoryUserQuery> = {}): Promise<readonly string[]> {
    return this.calls.body<typeof memoryTopics>('get_memory_topics', { query });
  }

  /** How many memories each user has. */
  users(query: Query<typeof memoryOwnersQuery> = {}): Listing<Owners, Owners['data'][number]> {
    return pagesOf(query, (paged) =>
      this.calls.body<typeof memoryOwnersPage>('get_user_memory_stats', { query: paged }),
    );
  }

  /** Merges all memories of a user into one. */
  optimize(
    body: Body<typeof optimizeMemoriesBody>,
    query: Database = {},
  ): Promise<z.output<typeof optimizedMemories>> {
    return this.calls.body<typeof optimizedMemories>('optimize_memories', { query, body });
  }
}

function of(memoryId: string) {
  return { memory_id: memoryId };
}
