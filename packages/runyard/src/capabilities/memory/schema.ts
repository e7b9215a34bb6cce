import { z } from 'zod';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../platform/http/request/database-query.js';
import { identifier } from '../../platform/http/request/fields.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';
import { longestTopic, mostTopics } from './stored-memory.js';

export const memoryParams = lazyObject(() => ({
  memory_id: z.string().meta({ description: 'The identifier of the memory.' }),
}));

const user = lazySchema(() => z.string().optional(), {
  description: 'Only memories of this user. Ignored for callers who see only their own.',
});

export const memoryDatabaseQuery = lazyObject(databaseQuery);

/** Whose memories, and in which database. */
export const memoryUserQuery = lazyObject(() => ({ user_id: user, ...databaseQuery() }));

export const memoryOwnersQuery = lazyObject(() => ({
  ...pageQuery({ default: 20, firstPage: 0 }),
  user_id: user,
  ...databaseQuery(),
}));

export const listMemoriesQuery = lazyObject(() => ({
  user_id: user,
  agent_id: z.string().optional().meta({ description: 'Only memories that this agent wrote.' }),
  team_id: z.string().optional().meta({ description: 'Only memories that this team wrote.' }),
  topics: z
    .array(z.string())
    .default([])
    .transform((given) => given.flatMap((topics) => topics.split(',')).map((topic) => topic.trim()))
    .transform((topics) => topics.filter((topic) => topic !== ''))
    .meta({
      description:
        'Only memories with all these topics, case-insensitive. Separate topics with commas or repeat the parameter.',
    }),
  search_content: z.string().optional().meta({
    description: 'Only memories whose text contains this, case-insensitive. No character is a wildcard.',
  }),
  ...pageQuery({ default: 20, firstPage: 0 }),
  sort_by: z.string().default('updated_at').meta({
    description: 'updated_at, created_at, memory_id or user_id; other values mean updated_at, descending.',
  }),
  sort_order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'Ascending or descending.' }),
  ...databaseQuery(),
}));

export type ListMemoriesQuery = z.output<typeof listMemoriesQuery>;

export const givenMemoryBody = lazyObject(
  () => ({
    memory: z.string().min(1).max(5000).meta({ description: 'The text to remember.' }),
    user_id: identifier().nullish().meta({
      description: 'The user that the memory belongs to. Default: the authenticated caller.',
    }),
    topics: z
      .array(z.string().max(longestTopic))
      .max(mostTopics)
      .nullish()
      .meta({ description: 'The topics of the memory. Default: none.' }),
  }),
  {
    id: 'GivenMemory',
    description: 'A memory to write.',
    examples: [{ memory: 'Likes tea', user_id: 'ada', topics: ['food', 'drinks'] }],
  },
);

export type GivenMemoryBody = z.output<typeof givenMemoryBody>;

export const deleteMemoriesBody = lazyObject(
  () => ({
    memory_ids: z
      .array(z.string())
      .min(1)
      .meta({ description: 'The memories to delete; unknown ids are skipped.' }),
    user_id: identifier().nullish().meta({ description: 'Deletes only memories of this user.' }),
  }),
  { id: 'MemoriesToDelete', examples: [{ memory_ids: ['019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11'] }] },
);

export const optimizeMemoriesBody = lazyObject(
  () => ({
    user_id: identifier().meta({ description: 'The user whose memories are merged.' }),
    model: z
      .string()
      .nullish()
      .meta({
        description:
          'The model that merges them, as provider:model_id. Default: the setting defaultModel, else the model of the first agent.',
        examples: ['openai:gpt-5-mini'],
      }),
    apply: z.boolean().default(true).meta({
      description:
        'true: the memories are replaced; false: nothing is stored, and the response shows the result.',
    }),
  }),
  { id: 'OptimizeMemories', examples: [{ user_id: 'ada', apply: false }] },
);

const time = () => z.string().meta({ description: 'ISO 8601, UTC, whole seconds.' });

export const memoryBody = lazyObject(
  () => ({
    memory_id: z.string(),
    memory: z.string(),
    topics: z.array(z.string()).nullable(),
    agent_id: z.string().nullable().meta({ description: 'The agent that wrote it.' }),
    team_id: z.string().nullable().meta({ description: 'The team that wrote it.' }),
    user_id: z.string().meta({ description: 'The user that the memory belongs to.' }),
    updated_at: time(),
    created_at: time().meta({ 'x-addition': true }),
  }),
  { id: 'Memory', description: 'A fact about a user.' },
);

export const memoriesPage = pageBody(memoryBody, 'MemoriesPage');

export const memoryTopics = lazySchema(() => z.array(z.string()));

export const memoryOwnersPage = pageBody(
  lazyObject(() => ({ user_id: z.string(), total_memories: z.int(), last_memory_updated_at: time() }), {
    id: 'UserMemoryStatistics',
    description: 'The memory count of a user.',
  }),
  'UserMemoryStatisticsPage',
);

export const optimizedMemories = lazyObject(
  () => ({
    memories: z.array(memoryBody).meta({
      description: 'The memory that replaces all others, or the unchanged memories if merging saves nothing.',
    }),
    memories_before: z.int(),
    memories_after: z.int(),
    tokens_before: z.int(),
    tokens_after: z.int(),
    tokens_saved: z.int(),
    reduction_percentage: z.number().meta({ description: '0 to 100.' }),
  }),
  { id: 'OptimizedMemories', description: 'The result of merging the memories of a user.' },
);
