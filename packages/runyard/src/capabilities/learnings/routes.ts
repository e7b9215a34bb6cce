import type { JsonObject } from '../../core/json.js';
import type { Learning } from '../../core/learnings/learnings.js';
import { pageOf } from '../../platform/http/pagination.js';
import { reply } from '../../platform/http/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import {
  type CreateLearningBody,
  createLearningBody,
  deleteUserLearningsQuery,
  learningBody,
  learningParams,
  learningQuery,
  learningsPage,
  learningUserParams,
  learningUsersPage,
  learningUsersQuery,
  listLearningsQuery,
  updateLearningBody,
} from './schema.js';
import type { GivenLearning, LearningsService, LearningUpdate } from './service.js';

export interface LearningServices {
  readonly learnings: LearningsService;
}

const tag = 'Learnings';

const listLearnings = defineRoute({
  method: 'GET',
  path: '/learnings',
  operationId: 'list_learnings',
  scope: 'learnings:read',
  tag,
  summary: 'List learnings',
  description:
    'All filters have to fit. A caller who sees only their own sees what belongs to nobody as well. What has no ' +
    'namespace is in the namespace global.',
  query: listLearningsQuery,
  responses: { 200: learningsPage },
  handler: async ({ learnings }: LearningServices, { query, caller }) => {
    const order = { sortBy: query.sort_by, direction: query.sort_order };
    const { items, total } = await learnings.list(caller, query, query, order, query);
    return pageOf(items.map(learningBodyOf), query, total);
  },
});

const createLearning = defineRoute({
  method: 'POST',
  path: '/learnings',
  operationId: 'create_learning',
  scope: 'learnings:write',
  tag,
  summary: 'Create a learning',
  description:
    'A profile, the memories of a user, the context of a session and the memory of an entity exist once: creating ' +
    'a second one is 409. Of any other type there may be many. A caller who sees only their own gives a context to ' +
    'sessions of their own (404), and keeps what is theirs about entities in the namespace user: with their id (403).',
  query: learningQuery,
  body: createLearningBody,
  responses: { 201: learningBody },
  handler: async ({ learnings }: LearningServices, { query, body, caller }) =>
    reply(201, learningBodyOf(await learnings.create(caller, query, givenLearning(body)))),
});

const listLearningUsers = defineRoute({
  method: 'GET',
  path: '/learnings/users',
  operationId: 'list_learning_users',
  scope: 'learnings:read',
  tag,
  summary: 'List who has learnings',
  description: 'Each with the time of the last one. What belongs to nobody is left out.',
  query: learningUsersQuery,
  responses: { 200: learningUsersPage },
  handler: async ({ learnings }: LearningServices, { query, caller }) => {
    const filter = { learningType: query.learning_type, userId: query.user_id };
    const order = { sortBy: query.sort_by, direction: query.sort_order };
    const { items, total } = await learnings.users(caller, query, filter, order, query);
    const data = items.map(({ userId, lastLearningUpdatedAt }) => ({
      user_id: userId,
      last_learning_updated_at: seconds(lastLearningUpdatedAt),
    }));
    return pageOf(data, query, total);
  },
});

const deleteUserLearnings = defineRoute({
  method: 'DELETE',
  path: '/learnings/users/:user_id',
  operationId: 'delete_learning_user',
  scope: 'learnings:delete',
  tag,
  summary: 'Forget a user',
  description: 'Deletes the learnings of a user, all of them or those of one type.',
  params: learningUserParams,
  query: deleteUserLearningsQuery,
  responses: { 204: { description: 'There are none any more.' } },
  handler: async ({ learnings }: LearningServices, { params, query, caller }) => {
    await learnings.deleteOfUser(caller, query, params.user_id, query.learning_type);
    return reply(204);
  },
});

const getLearning = defineRoute({
  method: 'GET',
  path: '/learnings/:learning_id',
  operationId: 'get_learning',
  scope: 'learnings:read',
  tag,
  summary: 'Get a learning',
  params: learningParams,
  query: learningQuery,
  responses: { 200: learningBody },
  handler: async ({ learnings }: LearningServices, { params, query, caller }) =>
    learningBodyOf(await learnings.get(caller, query, params.learning_id)),
});

const updateLearning = defineRoute({
  method: 'PATCH',
  path: '/learnings/:learning_id',
  operationId: 'update_learning',
  scope: 'learnings:write',
  tag,
  summary: 'Change a learning',
  description:
    'What is given takes the place of what was there; what is left out stays. Whose it is and what it is about ' +
    'cannot be changed.',
  params: learningParams,
  query: learningQuery,
  body: updateLearningBody,
  responses: { 200: learningBody },
  handler: async ({ learnings }: LearningServices, { params, query, body, caller }) =>
    learningBodyOf(await learnings.update(caller, query, params.learning_id, body as LearningUpdate)),
});

const deleteLearning = defineRoute({
  method: 'DELETE',
  path: '/learnings/:learning_id',
  operationId: 'delete_learning',
  scope: 'learnings:delete',
  tag,
  summary: 'Delete a learning',
  params: learningParams,
  query: learningQuery,
  responses: { 204: { description: 'It is gone.' } },
  handler: async ({ learnings }: LearningServices, { params, query, caller }) => {
    await learnings.delete(caller, query, params.learning_id);
    return reply(204);
  },
});

export const learningRoutes: readonly Route<LearningServices>[] = [
  listLearnings,
  createLearning,
  listLearningUsers,
  deleteUserLearnings,
  getLearning,
  updateLearning,
  deleteLearning,
];

function givenLearning(body: CreateLearningBody): GivenLearning {
  return {
    learningType: body.learning_type,
    content: body.content as JsonObject,
    namespace: body.namespace || null,
    userId: body.user_id ?? null,
    agentId: body.agent_id ?? null,
    teamId: body.team_id ?? null,
    sessionId: body.session_id ?? null,
    entityId: body.entity_id ?? null,
    entityType: body.entity_type ?? null,
    metadata: (body.metadata ?? null) as JsonObject | null,
  };
}

function learningBodyOf(learning: Learning) {
  return {
    learning_id: learning.learningId,
    learning_type: learning.learningType,
    namespace: learning.namespace,
    user_id: learning.userId,
    agent_id: learning.agentId,
    team_id: learning.teamId,
    session_id: learning.sessionId,
    entity_id: learning.entityId,
    entity_type: learning.entityType,
    content: learning.content,
    metadata: learning.metadata,
    created_at: seconds(learning.createdAt),
    updated_at: seconds(learning.updatedAt),
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
