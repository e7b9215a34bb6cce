import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { terminalStatuses } from '../../../core/runs/run.js';
import { assertMay } from '../../../platform/auth/authenticator.js';
import type { OpenaiCall, OpenaiRoute } from '../routes.js';
import { conversationRoutes } from './conversation-routes.js';
import { createResponse } from './create-response.js';
import { answersBefore, bodyOf, followResponse, responseOfPath } from './found-response.js';
import { pageOf, pageQuery } from './item-page.js';
import { checked } from './request-body.js';
import { conversationId, responseId } from './response-id.js';
import { inputItemsOf } from './shown-input.js';

const retrieveQuery = z.looseObject({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: z.coerce.number().int().min(0).optional(),
});

/** `/responses` and `/conversations`. */
export const responseRoutes: readonly OpenaiRoute[] = [
  {
    method: 'POST',
    path: '/responses',
    summary: 'Create a response (OpenAI)',
    action: 'run',
    answer: createResponse,
  },
  {
    method: 'GET',
    path: '/responses/:response_id',
    summary: 'Get a response, or its events (OpenAI)',
    action: 'read',
    answer: retrieve,
  },
  {
    method: 'DELETE',
    path: '/responses/:response_id',
    summary: 'Delete a response (OpenAI)',
    action: 'read',
    scope: 'sessions:delete',
    answer: remove,
  },
  {
    method: 'POST',
    path: '/responses/:response_id/cancel',
    summary: 'Cancel a response (OpenAI)',
    action: 'run',
    answer: cancel,
  },
  {
    method: 'GET',
    path: '/responses/:response_id/input_items',
    summary: 'List the input of a response (OpenAI)',
    action: 'read',
    answer: async (call) => {
      const found = await responseOfPath(call, 'read');
      const query = pageQuery(call);
      const isFirst = found.part.from === undefined;
      const items = isFirst ? inputItemsOf(found.run) : await answersBefore(call, found);
      return pageOf(query.order === 'asc' ? items : items.toReversed(), query);
    },
  },
  ...conversationRoutes,
];

async function retrieve(call: OpenaiCall): Promise<unknown> {
  const found = await responseOfPath(call, 'read');
  const { stream, starting_after: after } = checked(retrieveQuery, call.request.query);
  return stream === 'true' ? followResponse(call, found, after) : bodyOf(call, found);
}

/** What has ended stays as it is. */
async function cancel(call: OpenaiCall): Promise<unknown> {
  const found = await responseOfPath(call, 'run');
  const { services, request } = call;
  if (!terminalStatuses.has(found.run.status)) {
    await services.runs.cancel(request.caller, found.place);
    await services.runs.end(request.caller, found.place);
  }
  return bodyOf(call, found);
}

/** A run is deleted with its session. One that others build on stays until they are deleted with it. */
async function remove(call: OpenaiCall): Promise<unknown> {
  const { part, place } = await responseOfPath(call, 'read');
  const { services, request } = call;
  const { run, space } = await services.runs.find(request.caller, place);
  const { sessionId } = run;
  assertMay(request.caller, { scope: 'sessions:delete', params: { session_id: sessionId } });
  // those of other components count, too
  const runIds = await space.sessionRuns.lastIds(sessionId, 2);
  if (runIds.length > 1)
    throw errors.openaiRequest(
      `Other responses belong to the same conversation. Delete it whole: DELETE ${call.config.prefix}/conversations/${conversationId(sessionId)}.`,
      'response_id',
    );
  await services.sessions.delete(request.caller, [sessionId], { db_id: space.databaseId });
  return { id: responseId(part), object: 'response', deleted: true };
}
