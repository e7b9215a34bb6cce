import { errors } from '../../core/errors/errors.js';
import { lazySchema } from '../../core/schemas/lazy-schema.js';
import { ResourceRoutes } from '../../platform/http/resource-routes.js';
import { jsonPage } from '../../platform/http/response/json-stream.js';
import { jsonPieces, reply } from '../../platform/http/response/results.js';
import type { Route } from '../../platform/http/route.js';
import {
  createSessionBody,
  createSessionQuery,
  deleteQuery,
  deleteSessionsBody,
  listSessionsQuery,
  renameSessionBody,
  sessionDetail,
  sessionParams,
  sessionQuery,
  sessionsPage,
  updateSessionBody,
} from './schema.js';
import type { SessionsService } from './service.js';
import { withoutNulls } from './session-body.js';

export interface SessionServices {
  readonly sessions: SessionsService;
}

const resource = new ResourceRoutes<SessionServices>('Sessions', 'sessions');

const gone = 'Deleted, or there was nothing that the caller may delete.';

const listSessions = resource.get({
  path: '/sessions',
  operationId: 'get_sessions',
  summary: 'List sessions',
  description:
    'A page of sessions without their runs. A session must match all filters. Sessions with equal sort values are in the order ' +
    'of their creation.',
  query: listSessionsQuery,
  shows: sessionsPage,
  handler: async ({ sessions }, { query, caller }) => {
    const { entries, total } = await sessions.list(caller, query);
    return jsonPieces(jsonPage(entries, query, total));
  },
});

const createSession = resource.create({
  path: '/sessions',
  operationId: 'create_session',
  summary: 'Create a session',
  description:
    'Creates an empty session. Runs create sessions automatically; use this to set a state or a name first.',
  query: createSessionQuery,
  body: lazySchema(() => createSessionBody.optional()),
  shows: sessionDetail,
  handler: async ({ sessions }, { query, body, caller }) =>
    reply(201, withoutNulls(await sessions.create(caller, query.type, query, body ?? {}))),
});

const getSession = resource.get({
  path: '/sessions/:session_id',
  operationId: 'get_session_by_id',
  summary: 'Get a session',
  description: 'Includes the chat history of its last 200 runs. Another operation lists its runs.',
  params: sessionParams,
  query: sessionQuery,
  shows: sessionDetail,
  handler: async ({ sessions }, { params, query, caller }) =>
    withoutNulls(await sessions.get(caller, params.session_id, query)),
});

const updateSession = resource.change({
  path: '/sessions/:session_id',
  operationId: 'update_session',
  summary: 'Change a session',
  description: 'Replaces the given fields. Runs in progress do not undo the change.',
  params: sessionParams,
  query: sessionQuery,
  body: updateSessionBody,
  shows: sessionDetail,
  handler: ({ sessions }, { params, query, body, caller }) =>
    sessions.update(caller, params.session_id, query, body),
});

const renameSession = resource.act({
  path: '/sessions/:session_id/rename',
  operationId: 'rename_session',
  summary: 'Rename a session',
  params: sessionParams,
  query: sessionQuery,
  body: renameSessionBody,
  shows: sessionDetail,
  handler: ({ sessions }, { params, query, body, caller }) =>
    sessions.update(caller, params.session_id, query, body),
});

const deleteSession = resource.remove({
  path: '/sessions/:session_id',
  operationId: 'delete_session',
  summary: 'Delete a session',
  description:
    'Deletes the session and its runs, and cancels runs in progress. Traces, memories and approvals stay.',
  params: sessionParams,
  query: deleteQuery,
  gone,
  handler: ({ sessions }, { params, query, caller }) => sessions.delete(caller, [params.session_id], query),
});

const deleteSessions = resource.remove({
  path: '/sessions',
  operationId: 'delete_sessions',
  summary: 'Delete several sessions',
  description:
    'Deletes each session as the single deletion does. Ids that the caller cannot see are ignored.',
  query: deleteQuery,
  body: deleteSessionsBody,
  gone,
  handler: async ({ sessions }, { query, body, caller }) => {
    if (body.session_ids.length !== body.session_types.length) throw errors.sessionListsDiffer();
    await sessions.delete(caller, [...new Set(body.session_ids)], query);
  },
});

export const sessionRoutes: readonly Route<SessionServices>[] = [
  listSessions,
  createSession,
  getSession,
  updateSession,
  renameSession,
  deleteSession,
  deleteSessions,
];
