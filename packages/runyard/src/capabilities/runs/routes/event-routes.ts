import type { Json } from '../../../core/json.js';
import { reply } from '../../../platform/http/response/results.js';
import { defineRoute } from '../../../platform/http/route.js';
import { eventBody, eventReceipt, runQuery } from '../schema.js';
import {
  type RunKindFacts,
  type RunRoute,
  type RunServices,
  runParams,
  runScope,
  runsPath,
} from './route-kit.js';

export function sendEvent(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'POST',
    path: `${runsPath(facts)}/:run_id/events`,
    operationId: `send_${kind}_run_event`,
    scope: runScope(facts),
    tag: facts.tag,
    addition: true,
    summary: 'Send an event to a run',
    description:
      'A function of the workflow that waits for an event of this name continues with its data. An event that comes ' +
      'before is kept until a function waits for it. Data that does not fit what the run waits for is refused with 422.',
    params: runParams(facts),
    query: runQuery,
    body: eventBody,
    responses: { 202: eventReceipt },
    handler: async ({ runs }: RunServices, { params, query, body, caller }) => {
      const place = { kind, ...params, sessionId: query.session_id };
      // what zod calls JSON is the same
      const data = (body.data ?? null) as Json;
      const event = { name: body.name, data, eventId: body.event_id };
      const { eventId, status } = await runs.sendEvent(caller, place, event);
      return reply(202, { run_id: params.runId, event_id: eventId, status });
    },
  });
}
