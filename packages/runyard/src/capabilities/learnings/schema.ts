import { z } from 'zod';
import { databaseQuery } from '../../platform/http/database-query.js';
import { identifier } from '../../platform/http/fields.js';
import { largestPage, pageBody, pageQuery } from '../../platform/http/pagination.js';

export const learningParams = z.object({
  learning_id: z.string().meta({ description: 'The identifier of the learning.' }),
});

export const learningUserParams = z.object({
  user_id: z.string().meta({ description: 'Whose learnings.' }),
});

export const learningQuery = z.object(databaseQuery);

const learningType = z
  .string()
  .optional()
  .meta({
    description: 'Only learnings of this type.',
    examples: ['user_profile'],
  });

const sortOrder = z
  .enum(['asc', 'desc'])
  .default('desc')
  .meta({ description: 'asc: the smallest or oldest first; desc: the other way round.' });

export const listLearningsQuery = z.object({
  learning_type: learningType,
  user_id: z.string().optional().meta({ description: 'Only learnings of this user.' }),
  agent_id: z.string().optional().meta({ description: 'Only learnings of this agent.' }),
  team_id: z.string().optional().meta({ description: 'Only learnings of this team.' }),
  session_id: z.string().optional().meta({ description: 'Only learnings of this session.' }),
  namespace: z.string().optional().meta({
    description: 'Only learnings in this namespace; global has those without one too.',
  }),
  entity_id: z.string().optional().meta({ description: 'Only learnings about this entity.' }),
  entity_type: z.string().optional().meta({ description: 'Only learnings about entities of this type.' }),
  ...pageQuery({ default: 100, max: largestPage }),
  sort_by: z.string().optional().meta({
    description: 'The name of a field other than content and metadata; by updated_at otherwise.',
  }),
  sort_order: sortOrder,
  ...databaseQuery,
});

export const learningUsersQuery = z.object({
  learning_type: learningType,
  user_id: z.string().optional().meta({ description: 'Only this user.' }),
  ...pageQuery({ default: 20, max: largestPage }),
  sort_by: z.string().optional().meta({
    description: 'user_id; by last_learning_updated_at otherwise.',
  }),
  sort_order: sortOrder,
  ...databaseQuery,
});

export const deleteUserLearningsQuery = z.object({ learning_type: learningType, ...databaseQuery });

const givenObject = () => z.record(z.string(), z.unknown());

export const createLearningBody = z
  .object({
    learning_type: identifier()
      .min(1)
      .meta({
        description:
          'user_profile, user_memory, session_context and entity_memory exist once for each identity; any other ' +
          'name is a type of your own.',
      }),
    content: givenObject().meta({ description: 'What is learned, in a shape of your choice.' }),
    namespace: identifier().nullish().meta({ description: 'Left out, it is in the namespace global.' }),
    user_id: identifier().nullish().meta({ description: 'Whose it is; left out, it is for everybody.' }),
    agent_id: identifier().nullish(),
    team_id: identifier().nullish(),
    session_id: identifier().nullish(),
    entity_id: identifier().nullish(),
    entity_type: identifier().nullish(),
    metadata: givenObject().nullish(),
  })
  .meta({
    id: 'LearningCreate',
    description: 'A learning to store.',
    examples: [
      { learning_type: 'user_profile', user_id: 'ada', content: { name: 'Ada', language: 'English' } },
    ],
  });

export type CreateLearningBody = z.output<typeof createLearningBody>;

export const updateLearningBody = z
  .object({
    content: givenObject().nullish().meta({ description: 'Takes the place of the content.' }),
    metadata: givenObject()
      .nullish()
      .meta({ description: 'Takes the place of the metadata; null clears it.' }),
  })
  .meta({
    id: 'LearningUpdate',
    description: 'What of a learning changes. What is left out stays.',
    examples: [{ content: { name: 'Ada', language: 'French' } }],
  });

const object = () => z.looseObject({});
const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });

export const learningBody = z
  .object({
    learning_id: z.string(),
    learning_type: z.string(),
    namespace: z.string().nullable(),
    user_id: z.string().nullable().meta({ description: 'Whose it is; null: everybody may read it.' }),
    agent_id: z.string().nullable(),
    team_id: z.string().nullable(),
    session_id: z.string().nullable(),
    entity_id: z.string().nullable(),
    entity_type: z.string().nullable(),
    content: object(),
    metadata: object().nullable(),
    created_at: seconds(),
    updated_at: seconds(),
  })
  .meta({ id: 'Learning', description: 'A structured record that agents keep.' });

export const learningsPage = pageBody(learningBody, 'LearningsPage');

const learningUserBody = z
  .object({ user_id: z.string(), last_learning_updated_at: seconds() })
  .meta({ id: 'LearningUser', description: 'Somebody about whom there are learnings.' });

export const learningUsersPage = pageBody(learningUserBody, 'LearningUsersPage');
