import { pageOf } from '../../platform/http/request/pagination.js';
import { reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
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

const tag = 'Memory';

const createMemory = defineRoute({
  method: 'POST',
  path: '/memories',
  operationId: 'create_memory',
  scope: 'memories:write',
  tag,
  summary: 'Write a memory',
  query: memoryDatabaseQuery,
  body: givenMemoryBody,
  responses: { 200: memoryBody },
  handler: async ({ memories }: MemoryServices, { query, body, caller }) =>
    memoryBodyOf(await memories.create(caller, query, givenOf(body))),
});

const listMemories = defineRoute({
  method: 'GET',
  path: '/memories',
  operationId: 'get_memories',
  scope: 'memories:read',
  tag,
  summary: 'List memories',
  description: 'Memories about users, last changed first. A memory must match all filters.',
  query: listMemoriesQuery,
  responses: { 200: memoriesPage },
  handler: async ({ memories }: MemoryServices, { query, caller }) => {
    const order = { by: query.sort_by, direction: query.sort_order };
    const { items, total } = await memories.list(caller, query, filterOf(query), order, query);
    return pageOf(items.map(memoryBodyOf), query, total);
  },
});

const getMemory = defineRoute({
  method: 'GET',
  path: '/memories/:memory_id',
  operationId: 'get_memory',
  scope: 'memories:read',
  tag,
  summary: 'Get a memory',
  params: memoryParams,
  query: memoryUserQuery,
  responses: { 200: memoryBody },
  handler: async ({ memories }: MemoryServices, { params, query, caller }) =>
    memoryBodyOf(await memories.get(caller, query, params.memory_id, query.user_id)),
});

const updateMemory = defineRoute({
  method: 'PATCH',
  path: '/memories/:memory_id',
  operationId: 'update_memory',
  scope: 'memories:write',
  tag,
  summary: 'Change a memory',
  description:
    'Replaces the text and the topics of a memory of this user. Author and creation time stay the same. 404 if the memory belongs to another user.',
  params: memoryParams,
  query: memoryDatabaseQuery,
  body: givenMemoryBody,
  responses: { 200: memoryBody },
  handler: async ({ memories }: MemoryServices, { params, query, body, caller }) =>
    memoryBodyOf(await memories.update(caller, query, params.memory_id, givenOf(body))),
});

const deleteMemory = defineRoute({
  method: 'DELETE',
  path: '/memories/:memory_id',
  operationId: 'delete_memory',
  scope: 'memories:delete',
  tag,
  summary: 'Delete a memory',
  params: memoryParams,
  query: memoryUserQuery,
  responses: { 204: { description: 'The memory is deleted or never existed.' } },
  handler: async ({ memories }: MemoryServices, { params, query, caller }) => {
    await memories.delete(caller, query, [params.memory_id], query.user_id);
    return reply(204);
  },
});

const deleteMemories = defineRoute({
  method: 'DELETE',
  path: '/memories',
  operationId: 'delete_memories',
  scope: 'memories:delete',
  tag,
  summary: 'Delete several memories',
  query: memoryDatabaseQuery,
  body: deleteMemoriesBody,
  responses: { 204: { description: 'The memories that the caller may delete are deleted.' } },
  handler: async ({ memories }: MemoryServices, { query, body, caller }) => {
    await memories.delete(caller, query, body.memory_ids, body.user_id ?? undefined);
    return reply(204);
  },
});

const getTopics = defineRoute({
  method: 'GET',
  path: '/memory_topics',
  operationId: 'get_memory_topics',
  scope: 'memories:read',
  tag,
  summary: 'List the topics of memories',
  description: 'All topics, without duplicates.',
  query: memoryUserQuery,
  responses: { 200: memoryTopics },
  handler: ({ memories }: MemoryServices, { query, caller }) => memories.topics(caller, query, query.user_id),
});

const getOwners = defineRoute({
  method: 'GET',
  path: '/user_memory_stats',
  operationId: 'get_user_memory_stats',
  scope: 'memories:read',
  tag,
  summary: 'Count memories by user',
  description: 'One entry per user with memories, last changed first.',
  query: memoryOwnersQuery,
  responses: { 200: memoryOwnersPage },
  handler: async ({ memories }: MemoryServices, { query, caller }) => {
    const { items, total } = await memories.owners(caller, query, query, query.user_id);
    return pageOf(items.map(ownerBodyOf), query, total);
  },
});

const optimizeMemories = defineRoute({
  method: 'POST',
  path: '/optimize-memories',
  operationId: 'optimize_memories',
  scope: 'memories:write',
  tag,
  summary: 'Merge the memories of a user into one',
  description:
    'A model merges all memories of a user into one shorter text, which replaces them in one transaction. Memories ' +
    'that are added meanwhile stay. If the text is longer than the memories together, nothing is replaced.',
  query: memoryDatabaseQuery,
  body: optimizeMemoriesBody,
  responses: { 200: optimizedMemories },
  handler: async ({ memories }: MemoryServices, { query, body, caller, signal }) => {
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
