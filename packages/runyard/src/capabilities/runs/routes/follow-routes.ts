import { errors } from '../../../core/errors/errors.js';
import { runIdHeader } from '../../../platform/http/response/respond.js';
import { eventStream, reply } from '../../../platform/http/response/results.js';
import { wireFormatHeaders, wireFormatOf } from '../../../platform/http/response/wire-format.js';
import { defineRoute } from '../../../platform/http/route.js';
import { unknownRunFrames } from '../events/follow-run.js';
import { followHeaders, followQuery, resumeForm } from '../schema.js';
import {
  endedStreamText,
  type RunKindFacts,
  type RunRoute,
  type RunServices,
  readScopes,
  runIdHeaders,
  runParams,
  runScope,
  runsPath,
} from './route-kit.js';

const followedStreamText =
  'Server-sent events, with their index as id. The stream ends when the run does, or when it pauses. ' +
  endedStreamText;

const resumedStreamText =
  'Server-sent events; those of the run have their index as id. Frames without an id, each with event, run_id, status ' +
  'and message: catch_up (missed_events, current_event_count), subscribed (current_event_count), replay ' +
  '(total_events, total_buffered, last_event_index_requested); and error (error) if the run does not exist. ' +
  endedStreamText;

export function resumeRun(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'POST',
    path: `${runsPath(facts)}/:run_id/resume`,
    operationId: `resume_${kind}_run_stream`,
    scope: runScope(facts),
    tag: facts.tag,
    summary: 'Resume the stream of a run',
    description:
      'The events of a run after the last one that you received, then new events as they occur. Frames named ' +
      'catch_up, subscribed, replay and error announce what follows.',
    accepts: 'form',
    params: runParams(facts),
    headers: wireFormatHeaders,
    body: resumeForm,
    responses: {
      200: { description: 'The stream of events.', events: resumedStreamText, headers: runIdHeaders },
    },
    handler: async ({ runs, settings }: RunServices, { params, body, caller, headers }) => {
      const { runId } = params;
      const place = { kind, ...params, sessionId: body.session_id };
      const followed = await runs.follow(caller, place, body.last_event_index ?? -1);
      const frames = followed?.frames(wireFormatOf(settings, headers));
      return eventStream(frames ?? unknownRunFrames(runId), runIdHeader(runId));
    },
  });
}

export function followEvents(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'GET',
    path: `${runsPath(facts)}/:run_id/events`,
    operationId: `follow_${kind}_run_events`,
    scope: readScopes(facts),
    tag: facts.tag,
    summary: 'Follow the events of a run',
    description:
      'For an EventSource: the stored and live events of a run after Last-Event-ID. 204, which ' +
      'closes an EventSource, if the run has ended or is paused and no event is missing.',
    addition: true,
    params: runParams(facts),
    query: followQuery,
    headers: followHeaders,
    responses: {
      200: { description: 'The stream of events.', events: followedStreamText, headers: runIdHeaders },
      204: { description: 'No more events follow.' },
    },
    handler: async ({ runs }: RunServices, { params, query, caller, headers }) => {
      const last = headers['last-event-id'];
      const after = last ? Number(last) : (query.last_event_index ?? -1);
      const place = { kind, ...params, sessionId: query.session_id };
      const followed = await runs.follow(caller, place, after);
      if (followed === undefined) throw errors.runNotFound();
      if (followed.resting && followed.missedEvents === 0) return reply(204);
      return eventStream(followed.events(), runIdHeader(params.runId));
    },
  });
}
