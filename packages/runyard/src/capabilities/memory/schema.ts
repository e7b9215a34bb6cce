import { z } from 'zod';
import { databaseQuery } from '../../platform/http/database-query.js';
import { identifier } from '../../platform/http/fields.js';
import { pageBody, pageQuery } from '../../platform/http/pagination.js';
import { longestTopic, mostTopics } from './stored-memory.js';

export const memoryParams = z.object({
  memory_id: z.string().meta({ description: 'The identifier of the memory.' }),
});

const user = z.string().optional().meta({
  description: 'Only memories of this user. Without effect for a caller who sees only their own.',
});

export const memoryDatabaseQuery = z.object(databaseQuery);

/** Whose memories, and in which database. */
export const memoryUserQuery = z.object({ user_id: user, ...databaseQuery });

export const memoryOwnersQuery = z.object({
  ...pageQuery({ default: 20, firstPage: 0 }),
  user_id: user,
  ...databaseQuery,
});

export const listMemoriesQuery = z.object({
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
        'Only memories that have all these topics, in letters of either case. Separated by commas, or sent several times.',
    }),
  search_content: z.string().optional().meta({
    description:
      'Only memories whose text holds this, in letters of either case. Nothing in it is a wildcard.',
  }),
  ...pageQuery({ default: 20, firstPage: 0 }),
  sort_by: z.string().default('updated_at').meta({
    description: 'updated_at, created_at, memory_id or user_id; anything else means updated_at, descending.',
  }),
  sort_order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'Ascending or descending.' }),
  ...databaseQuery,
});

export type ListMemoriesQuery = z.output<typeof listMemoriesQuery>;

export const givenMemoryBody = z
  .object({
    memory: z.string().min(1).max(5000).meta({ description: 'What is to be remembered.' }),
    user_id: identifier().nullish().meta({
      description: 'Whose memory it is. An authenticated caller may leave it out and means themselves.',
    }),
    topics: z
      .array(z.string().max(longestTopic))
      .max(mostTopics)
      .nullish()
      .meta({ description: 'What it is about; left out means none.' }),
  })
  .meta({
    id: 'GivenMemory',
    description: 'A memory that somebody writes.',
    examples: [{ memory: 'Likes tea', user_id: 'ada', topics: ['food', 'drinks'] }],
  });

export type GivenMemoryBody = z.output<typeof givenMemoryBody>;

export const deleteMemoriesBody = z
  .object({
    memory_ids: z.array(z.string()).min(1).meta({ description: 'Which memories; unknown ones are skipped.' }),
    user_id: identifier().nullish().meta({ description: 'Only those of them that belong to this user.' }),
  })
  .meta({ id: 'MemoriesToDelete', examples: [{ memory_ids: ['019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11'] }] });

export const optimizeMemoriesBody = z
  .object({
    user_id: identifier().meta({ description: 'Whose memories are merged.' }),
    model: z
      .string()
      .nullish()
      .meta({
        description:
          'The model that merges them, as provider:model_id. Without it: the setting defaultModel, or the model of the first agent.',
        examples: ['openai:gpt-5-mini'],
      }),
    apply: z.boolean().default(true).meta({
      description:
        'Whether the memories are replaced. If not, nothing is stored: the answer shows what would be.',
    }),
  })
  .meta({ id: 'OptimizeMemories', examples: [{ user_id: 'ada', apply: false }] });

const time = () => z.string().meta({ description: 'ISO 8601, UTC, whole seconds.' });

export const memoryBody = z
  .object({
    memory_id: z.string(),
    memory: z.string(),
    topics: z.array(z.string()).nullable(),
    agent_id: z.string().nullable().meta({ description: 'The agent that wrote it.' }),
    team_id: z.string().nullable().meta({ description: 'The team that wrote it.' }),
    user_id: z.string().meta({ description: 'Whose memory it is.' }),
    updated_at: time(),
    created_at: time().meta({ 'x-addition': true }),
  })
  .meta({ id: 'Memory', description: 'One fact about a person.' });

export const memoriesPage = pageBody(memoryBody, 'MemoriesPage');

export const memoryTopics = z.array(z.string());

export const memoryOwnersPage = pageBody(
  z
    .object({ user_id: z.string(), total_memories: z.int(), last_memory_updated_at: time() })
    .meta({ id: 'UserMemoryStatistics', description: 'How much is remembered about a person.' }),
  'UserMemoryStatisticsPage',
);

export const optimizedMemories = z
  .object({
    memories: z.array(memoryBody).meta({
      description:
        'The one that takes the place of all others; when nothing would be gained, those that stay.',
    }),
    memories_before: z.int(),
    memories_after: z.int(),
    tokens_before: z.int(),
    tokens_after: z.int(),
    tokens_saved: z.int(),
    reduction_percentage: z.number().meta({ description: '0 to 100.' }),
  })
  .meta({ id: 'OptimizedMemories', description: 'What merging the memories of a person came to.' });
