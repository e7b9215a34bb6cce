import { ResourceRoutes } from '../../platform/http/resource-routes.js';
import type { Route } from '../../platform/http/route.js';
import { memoryBodyOf, optimizedBodyOf, ownerBodyOf } from './memory-body.js';
import {
  deleteMemoriesBody,
  type GivenMemoryBody,
  givenMemoryBody,
  type ListMemoriesQuery,
  listMemoriesQuery,
  memoriesPage,
  memoryBody,
  memoryDatabaseQuery,
  memoryOwnersPage,
  memoryOwnersQuery,
  memoryParams,
  memoryTopics,
  memoryUserQuery,
  optimizedMemories,
  optimizeMemoriesBody,
} from './schema.js';
import type { MemoriesService } from './service.js';

export interface MemoryServices {
  readonly memories: MemoriesService;
}

const resource = new ResourceRoutes<MemoryServices>('Memory', 'memories');

const createMemory = resource.act({
  path: '/memories',
  operationId: 'create_memory',
  summary: 'Write a memory',
  query: memoryDatabaseQuery,
  body: givenMemoryBody,
  shows: memoryBody,
  handler: async ({ memories }, { query, body, caller }) =>
    memoryBodyOf(await memories.create(caller, query, givenOf(body))),
});

const listMemories = resource.list({
  path: '/memories',
  operationId: 'get_memories',
  summary: 'List memories',
  description: 'Memories about users, last changed first. A memory must match all filters.',
  query: listMemoriesQuery,
  shows: memoriesPage,
  find: ({ memories }, { query, caller }) => {
    const order = { by: query.sort_by, direction: query.sort_order };
    return memories.list(caller, query, filterOf(query), order, query);
  },
  entry: memoryBodyOf,
});

const getMemory = resource.get({
  path: '/memories/:memory_id',
  operationId: 'get_memory',
  summary: 'Get a memory',
  params: memoryParams,
  query: memoryUserQuery,
  shows: memoryBody,
  handler: async ({ memories }, { params, query, caller }) =>
    memoryBodyOf(await memories.get(caller, query, params.memory_id, query.user_id)),
});

const updateMemory = resource.change({
  path: '/memories/:memory_id',
  operationId: 'update_memory',
  summary: 'Change a memory',
  description:
    'Replaces the text and the topics of a memory of this user. Author and creation time stay the same. 404 if the memory belongs to another user.',
  params: memoryParams,
  query: memoryDatabaseQuery,
  body: givenMemoryBody,
  shows: memoryBody,
  handler: async ({ memories }, { params, query, body, caller }) =>
    memoryBodyOf(await memories.update(caller, query, params.memory_id, givenOf(body))),
});

const deleteMemory = resource.remove({
  path: '/memories/:memory_id',
  operationId: 'delete_memory',
  summary: 'Delete a memory',
  params: memoryParams,
  query: memoryUserQuery,
  gone: 'The memory is deleted or never existed.',
  handler: ({ memories }, { params, query, caller }) =>
    memories.delete(caller, query, [params.memory_id], query.user_id),
});

const deleteMemories = resource.remove({
  path: '/memories',
  operationId: 'delete_memories',
  summary: 'Delete several memories',
  query: memoryDatabaseQuery,
  body: deleteMemoriesBody,
  gone: 'The memories that the caller may delete are deleted.',
  handler: ({ memories }, { query, body, caller }) =>
    memories.delete(caller, query, body.memory_ids, body.user_id ?? undefined),
});

const getTopics = resource.get({
  path: '/memory_topics',
  operationId: 'get_memory_topics',
  summary: 'List the topics of memories',
  description: 'All topics, without duplicates.',
  query: memoryUserQuery,
  shows: memoryTopics,
  handler: ({ memories }, { query, caller }) => memories.topics(caller, query, query.user_id),
});

const getOwners = resource.list({
  path: '/user_memory_stats',
  operationId: 'get_user_memory_stats',
  summary: 'Count memories by user',
  description: 'One entry per user with memories, last changed first.',
  query: memoryOwnersQuery,
  shows: memoryOwnersPage,
  find: ({ memories }, { query, caller }) => {
    return memories.owners(caller, query, query, query.user_id);
  },
  entry: ownerBodyOf,
});

const optimizeMemories = resource.act({
  path: '/optimize-memories',
  operationId: 'optimize_memories',
  summary: 'Merge the memories of a user into one',
  description:
    'A model merges all memories of a user into one shorter text, which replaces them in one transaction. Memories ' +
    'that are added meanwhile stay. If the text is longer than the memories together, nothing is replaced.',
  query: memoryDatabaseQuery,
  body: optimizeMemoriesBody,
  shows: optimizedMemories,
  handler: async ({ memories }, { query, body, caller, signal }) => {
    const { user_id: userId, model, apply } = body;
    const request = { userId, model: model ?? undefined, apply, signal };
    return optimizedBodyOf(await memories.optimize(caller, query, request));
  },
});

export const memoryRoutes: readonly Route<MemoryServices>[] = [
  createMemory,
  listMemories,
  getMemory,
  updateMemory,
  deleteMemory,
  deleteMemories,
  getTopics,
  getOwners,
  optimizeMemories,
];

function givenOf({ memory, user_id: userId, topics }: GivenMemoryBody) {
  return { memory, userId: userId ?? undefined, topics: topics ?? [] };
}

function filterOf(query: ListMemoriesQuery) {
  return {
    userId: query.user_id,
    agentId: query.agent_id,
    teamId: query.team_id,
    topics: query.topics,
    text: query.search_content,
  };
}
