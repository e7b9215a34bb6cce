import { errors } from '../../core/errors/errors.js';
import { jsonPage } from '../../platform/http/response/json-stream.js';
import { jsonPieces, reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
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

const gone = { 204: { description: 'Deleted, or there was nothing that the caller may delete.' } };

const listSessions = defineRoute({
  method: 'GET',
  path: '/sessions',
  operationId: 'get_sessions',
  scope: 'sessions:read',
  tag: 'Sessions',
  summary: 'List sessions',
  description:
    'A page of sessions without their runs. A session must match all filters. Sessions with equal sort values are in the order ' +
    'of their creation.',
  query: listSessionsQuery,
  responses: { 200: sessionsPage },
  handler: async ({ sessions }: SessionServices, { query, caller }) => {
    const { entries, total } = await sessions.list(caller, query);
    return jsonPieces(jsonPage(entries, query, total));
  },
});

const createSession = defineRoute({
  method: 'POST',
  path: '/sessions',
  operationId: 'create_session',
  scope: 'sessions:write',
  tag: 'Sessions',
  summary: 'Create a session',
  description:
    'Creates an empty session. Runs create sessions automatically; use this to set a state or a name first.',
  query: createSessionQuery,
  body: createSessionBody.optional(),
  responses: { 201: sessionDetail },
  handler: async ({ sessions }: SessionServices, { query, body, caller }) =>
    reply(201, withoutNulls(await sessions.create(caller, query.type, query, body ?? {}))),
});

const getSession = defineRoute({
  method: 'GET',
  path: '/sessions/:session_id',
  operationId: 'get_session_by_id',
  scope: 'sessions:read',
  tag: 'Sessions',
  summary: 'Get a session',
  description: 'Includes the chat history of its last 200 runs. Another operation lists its runs.',
  params: sessionParams,
  query: sessionQuery,
  responses: { 200: sessionDetail },
  handler: async ({ sessions }: SessionServices, { params, query, caller }) =>
    withoutNulls(await sessions.get(caller, params.session_id, query)),
});

const updateSession = defineRoute({
  method: 'PATCH',
  path: '/sessions/:session_id',
  operationId: 'update_session',
  scope: 'sessions:write',
  tag: 'Sessions',
  summary: 'Change a session',
  description: 'Replaces the given fields. Runs in progress do not undo the change.',
  params: sessionParams,
  query: sessionQuery,
  body: updateSessionBody,
  responses: { 200: sessionDetail },
  handler: ({ sessions }: SessionServices, { params, query, body, caller }) =>
    sessions.update(caller, params.session_id, query, body),
});

const renameSession = defineRoute({
  method: 'POST',
  path: '/sessions/:session_id/rename',
  operationId: 'rename_session',
  scope: 'sessions:write',
  tag: 'Sessions',
  summary: 'Rename a session',
  params: sessionParams,
  query: sessionQuery,
  body: renameSessionBody,
  responses: { 200: sessionDetail },
  handler: ({ sessions }: SessionServices, { params, query, body, caller }) =>
    sessions.update(caller, params.session_id, query, body),
});

const deleteSession = defineRoute({
  method: 'DELETE',
  path: '/sessions/:session_id',
  operationId: 'delete_session',
  scope: 'sessions:delete',
  tag: 'Sessions',
  summary: 'Delete a session',
  description:
    'Deletes the session and its runs, and cancels runs in progress. Traces, memories and approvals stay.',
  params: sessionParams,
  query: deleteQuery,
  responses: gone,
  handler: async ({ sessions }: SessionServices, { params, query, caller }) => {
    await sessions.delete(caller, [params.session_id], query);
    return reply(204);
  },
});

const deleteSessions = defineRoute({
  method: 'DELETE',
  path: '/sessions',
  operationId: 'delete_sessions',
  scope: 'sessions:delete',
  tag: 'Sessions',
  summary: 'Delete several sessions',
  description:
    'Deletes each session as the single deletion does. Ids that the caller cannot see are ignored.',
  query: deleteQuery,
  body: deleteSessionsBody,
  responses: gone,
  handler: async ({ sessions }: SessionServices, { query, body, caller }) => {
    if (body.session_ids.length !== body.session_types.length) throw errors.sessionListsDiffer();
    await sessions.delete(caller, [...new Set(body.session_ids)], query);
    return reply(204);
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
