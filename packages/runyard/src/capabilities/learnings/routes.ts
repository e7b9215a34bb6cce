import type { Learning } from '../../core/learnings/learnings.js';
import { ResourceRoutes } from '../../platform/http/resource-routes.js';
import { reply } from '../../platform/http/response/results.js';
import type { Route } from '../../platform/http/route.js';
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
import type { GivenLearning, LearningsService } from './service.js';

export interface LearningServices {
  readonly learnings: LearningsService;
}

const resource = new ResourceRoutes<LearningServices>('Learnings', 'learnings');

const listLearnings = resource.list({
  path: '/learnings',
  operationId: 'list_learnings',
  summary: 'List learnings',
  description:
    'A learning must match all filters. Callers who see only their own also see learnings without a user. Learnings without a ' +
    'namespace are in the namespace global.',
  query: listLearningsQuery,
  shows: learningsPage,
  find: ({ learnings }, { query, caller }) => {
    const order = { sortBy: query.sort_by, direction: query.sort_order };
    return learnings.list(caller, query, query, order, query);
  },
  entry: learningBodyOf,
});

const createLearning = resource.create({
  path: '/learnings',
  operationId: 'create_learning',
  summary: 'Create a learning',
  description:
    'A user has one profile and one memory, a session one context, and an entity one memory: creating ' +
    'a second one gets 409. Other types allow any number. Callers who see only their own can add a context only to ' +
    'their own sessions (otherwise 404) and must use the namespace user:<their id> for their own learnings about entities (otherwise 403).',
  query: learningQuery,
  body: createLearningBody,
  shows: learningBody,
  handler: async ({ learnings }, { query, body, caller }) =>
    reply(201, learningBodyOf(await learnings.create(caller, query, givenLearning(body)))),
});

const listLearningUsers = resource.list({
  path: '/learnings/users',
  operationId: 'list_learning_users',
  summary: 'List users with learnings',
  description: 'Each user with the time of their last learning. Learnings without a user are left out.',
  query: learningUsersQuery,
  shows: learningUsersPage,
  find: ({ learnings }, { query, caller }) => {
    const filter = { learningType: query.learning_type, userId: query.user_id };
    const order = { sortBy: query.sort_by, direction: query.sort_order };
    return learnings.users(caller, query, filter, order, query);
  },
  entry: ({ userId, lastLearningUpdatedAt }) => ({
    user_id: userId,
    last_learning_updated_at: seconds(lastLearningUpdatedAt),
  }),
});

const deleteUserLearnings = resource.remove({
  path: '/learnings/users/:user_id',
  operationId: 'delete_learning_user',
  summary: 'Delete the learnings of a user',
  description: 'Deletes all learnings of a user, or those of one type.',
  params: learningUserParams,
  query: deleteUserLearningsQuery,
  gone: 'The learnings are deleted.',
  handler: ({ learnings }, { params, query, caller }) =>
    learnings.deleteOfUser(caller, query, params.user_id, query.learning_type),
});

const getLearning = resource.get({
  path: '/learnings/:learning_id',
  operationId: 'get_learning',
  summary: 'Get a learning',
  params: learningParams,
  query: learningQuery,
  shows: learningBody,
  handler: async ({ learnings }, { params, query, caller }) =>
    learningBodyOf(await learnings.get(caller, query, params.learning_id)),
});

const updateLearning = resource.change({
  path: '/learnings/:learning_id',
  operationId: 'update_learning',
  summary: 'Change a learning',
  description:
    'Replaces the given fields and keeps the others. The user, type and subject of a learning ' +
    'cannot be changed.',
  params: learningParams,
  query: learningQuery,
  body: updateLearningBody,
  shows: learningBody,
  handler: async ({ learnings }, { params, query, body, caller }) =>
    learningBodyOf(await learnings.update(caller, query, params.learning_id, body)),
});

const deleteLearning = resource.remove({
  path: '/learnings/:learning_id',
  operationId: 'delete_learning',
  summary: 'Delete a learning',
  params: learningParams,
  query: learningQuery,
  gone: 'The learning is deleted.',
  handler: ({ learnings }, { params, query, caller }) => learnings.delete(caller, query, params.learning_id),
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
    content: body.content,
    namespace: body.namespace || null,
    userId: body.user_id ?? null,
    agentId: body.agent_id ?? null,
    teamId: body.team_id ?? null,
    sessionId: body.session_id ?? null,
    entityId: body.entity_id ?? null,
    entityType: body.entity_type ?? null,
    metadata: body.metadata ?? null,
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
