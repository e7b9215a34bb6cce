import { z } from 'zod';
import type { Json } from '../../core/json.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../platform/http/request/database-query.js';
import { identifier } from '../../platform/http/request/fields.js';
import { largestPage, pageBody, pageQuery } from '../../platform/http/request/pagination.js';

export const learningParams = lazyObject(() => ({
  learning_id: z.string().meta({ description: 'The identifier of the learning.' }),
}));

export const learningUserParams = lazyObject(() => ({
  user_id: z.string().meta({ description: 'The user whose learnings are deleted.' }),
}));

export const learningQuery = lazyObject(databaseQuery);

const learningType = lazySchema(() => z.string().optional(), {
  description: 'Only learnings of this type.',
  examples: ['user_profile'],
});

const sortOrder = lazySchema(() => z.enum(['asc', 'desc']).default('desc'), {
  description: 'asc: smallest or oldest first; desc: largest or newest first.',
});

export const listLearningsQuery = lazyObject(() => ({
  learning_type: learningType,
  user_id: z.string().optional().meta({ description: 'Only learnings of this user.' }),
  agent_id: z.string().optional().meta({ description: 'Only learnings of this agent.' }),
  team_id: z.string().optional().meta({ description: 'Only learnings of this team.' }),
  session_id: z.string().optional().meta({ description: 'Only learnings of this session.' }),
  namespace: z.string().optional().meta({
    description: 'Only learnings in this namespace; global includes learnings without one.',
  }),
  entity_id: z.string().optional().meta({ description: 'Only learnings about this entity.' }),
  entity_type: z.string().optional().meta({ description: 'Only learnings about entities of this type.' }),
  ...pageQuery({ default: 100, max: largestPage }),
  sort_by: z.string().optional().meta({
    description: 'Any field except content and metadata; other values mean updated_at.',
  }),
  sort_order: sortOrder,
  ...databaseQuery(),
}));

export const learningUsersQuery = lazyObject(() => ({
  learning_type: learningType,
  user_id: z.string().optional().meta({ description: 'Only this user.' }),
  ...pageQuery({ default: 20, max: largestPage }),
  sort_by: z.string().optional().meta({
    description: 'user_id; other values mean last_learning_updated_at.',
  }),
  sort_order: sortOrder,
  ...databaseQuery(),
}));

export const deleteUserLearningsQuery = lazyObject(() => ({
  learning_type: learningType,
  ...databaseQuery(),
}));

const givenObject = () => z.record(z.string(), z.custom<Json>());

export const createLearningBody = lazyObject(
  () => ({
    learning_type: identifier()
      .min(1)
      .meta({
        description:
          'user_profile, user_memory, session_context and entity_memory exist once for each identity; any other ' +
          'name is a custom type.',
      }),
    content: givenObject().meta({ description: 'The content, a JSON object of any shape.' }),
    namespace: identifier().nullish().meta({ description: 'Default: global.' }),
    user_id: identifier()
      .nullish()
      .meta({ description: 'The user that the learning belongs to. If omitted, every user can read it.' }),
    agent_id: identifier().nullish(),
    team_id: identifier().nullish(),
    session_id: identifier().nullish(),
    entity_id: identifier().nullish(),
    entity_type: identifier().nullish(),
    metadata: givenObject().nullish(),
  }),
  {
    id: 'LearningCreate',
    description: 'A learning to store.',
    examples: [
      { learning_type: 'user_profile', user_id: 'ada', content: { name: 'Ada', language: 'English' } },
    ],
  },
);

export type CreateLearningBody = z.output<typeof createLearningBody>;

export const updateLearningBody = lazyObject(
  () => ({
    content: givenObject().nullish().meta({ description: 'Replaces the content.' }),
    metadata: givenObject().nullish().meta({ description: 'Replaces the metadata; null clears it.' }),
  }),
  {
    id: 'LearningUpdate',
    description: 'Changes to a learning. Omitted fields keep their values.',
    examples: [{ content: { name: 'Ada', language: 'French' } }],
  },
);

const object = () => z.looseObject({});
const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });

export const learningBody = lazyObject(
  () => ({
    learning_id: z.string(),
    learning_type: z.string(),
    namespace: z.string().nullable(),
    user_id: z
      .string()
      .nullable()
      .meta({ description: 'The user that the learning belongs to; null: every user can read it.' }),
    agent_id: z.string().nullable(),
    team_id: z.string().nullable(),
    session_id: z.string().nullable(),
    entity_id: z.string().nullable(),
    entity_type: z.string().nullable(),
    content: object(),
    metadata: object().nullable(),
    created_at: seconds(),
    updated_at: seconds(),
  }),
  { id: 'Learning', description: 'A structured record that agents keep.' },
);

export const learningsPage = pageBody(learningBody, 'LearningsPage');

const learningUserBody = lazyObject(
  () => ({
    user_id: z.string(),
    last_learning_updated_at: seconds(),
  }),
  { id: 'LearningUser', description: 'A user with learnings.' },
);

export const learningUsersPage = pageBody(learningUserBody, 'LearningUsersPage');
