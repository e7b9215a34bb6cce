import { z } from 'zod';
import { isPromise } from '../../../core/async/promises.js';
import { hopsHeader } from '../../../core/runs/run.js';
import type { EventReader } from '../../../platform/http/response/event-reader.js';
import { jsonListOf } from '../../../platform/http/response/json-stream.js';
import { runIdHeader } from '../../../platform/http/response/respond.js';
import {
  type EventStreamReply,
  eventStream,
  type JsonPiecesReply,
  jsonPieces,
  type Reply,
  reply,
} from '../../../platform/http/response/results.js';
import {
  statusIn,
  type WireFormat,
  wireFormatHeaders,
  wireFormatOf,
} from '../../../platform/http/response/wire-format.js';
import { defineRoute } from '../../../platform/http/route.js';
import { bodyReply } from '../bodies/body-reply.js';
import { type ListedRun, listedRunJson } from '../bodies/listed-runs.js';
import { pausedOutput } from '../bodies/paused-output.js';
import { emptyBody, startedRun as startedRunBody } from '../bodies/response-schema.js';
import { listedRunOf, runMediaOf } from '../bodies/run-body.js';
import type { StartedRun } from '../request/started-run.js';
import { createRunHeaders, runForms, runQuery } from '../schema.js';
import {
  componentParams,
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

/** The answers of a request that starts a run or continues it. */
function runResponses({ body, lastEvents }: RunKindFacts) {
  return {
    200: {
      description: 'The run, or the stream of its events.',
      schema: body,
      events:
        'Server-sent events. Each has an id (its index in the run), a name, and one line of JSON with both ' +
        `as event_index and event. The last one is ${lastEvents}. ${endedStreamText}`,
      headers: runIdHeaders,
    },
    202: {
      description: 'A run that continues in the background.',
      schema: startedRunBody,
      headers: runIdHeaders,
    },
  };
}

export function createRun(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'POST',
    path: runsPath(facts),
    operationId: `create_${kind}_run`,
    scope: runScope(facts),
    tag: facts.tag,
    summary: `Run ${facts.inWords}`,
    description:
      `Sends a message to ${facts.inWords}. The answer is a stream of events, one JSON body (stream=false), or an ` +
      'acknowledgement (background=true). A run continues after its client disconnects, unless on_disconnect=cancel.',
    accepts: 'form',
    params: componentParams(facts),
    headers: createRunHeaders,
    body: runForms[kind].create,
    responses: runResponses(facts),
    handler: (services: RunServices, request) => {
      const { params, body, caller, headers } = request;
      const key = headers['idempotency-key'];
      const idempotencyKey = Array.isArray(key) ? key.join(', ') : key;
      const { traceparent } = headers;
      // several count as none, by the rules of W3C Trace Context
      const traceParent = Array.isArray(traceparent) ? undefined : traceparent;
      const hops = headers[hopsHeader];
      const context = { idempotencyKey, traceParent, hops, disconnected: () => request.signal };
      const { componentId } = params;
      const starting = services.runs.create(caller, { kind, componentId }, body, context);
      return answerOf(services, starting, wireFormatOf(services.settings, headers));
    },
  });
}

export function continueRun(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'POST',
    path: `${runsPath(facts)}/:run_id/continue`,
    operationId: `continue_${kind}_run`,
    scope: runScope(facts),
    tag: facts.tag,
    summary: 'Continue a run',
    description: facts.continueText,
    accepts: 'form',
    params: runParams(facts),
    headers: wireFormatHeaders,
    body: runForms[kind].continue,
    responses: runResponses(facts),
    handler: (services: RunServices, request) => {
      const { params, body, caller, headers } = request;
      const context = { disconnected: () => request.signal };
      const starting = services.runs.continueRun(caller, { kind, ...params }, body, context);
      return answerOf(services, starting, wireFormatOf(services.settings, headers));
    },
  });
}

export function cancelRun(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'POST',
    path: `${runsPath(facts)}/:run_id/cancel`,
    operationId: `cancel_${kind}_run`,
    scope: runScope(facts),
    tag: facts.tag,
    summary: 'Cancel a run',
    description:
      'Cancels a pending, running or paused run and keeps its output so far. A finished run does not change. An ' +
      'unknown run_id is stored for ten minutes: a run created with it in that time is cancelled at once. 202: the ' +
      'process that executes the run did not end it within 5 seconds. The request is stored; get the run to see when it ends.',
    params: runParams(facts),
    query: runQuery,
    headers: wireFormatHeaders,
    responses: { 200: emptyBody, 202: startedRunBody },
    handler: async ({ runs, settings }: RunServices, { params, query, caller, headers }) => {
      const left = await runs.cancel(caller, { kind, ...params, sessionId: query.session_id });
      if (left === undefined) return {};
      const { runId, sessionId, status } = left;
      const shownStatus = statusIn(wireFormatOf(settings, headers), status);
      return reply(202, { run_id: runId, session_id: sessionId, status: shownStatus });
    },
  });
}

export function listRuns(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'GET',
    path: runsPath(facts),
    operationId: `list_${kind}_runs`,
    scope: readScopes(facts),
    tag: facts.tag,
    summary: `List the runs of ${facts.inWords}`,
    description:
      `Runs of a session, oldest first; without session_id, the runs of the ${kind}, newest first. A run in progress ` +
      'has its text and tool calls so far. Streamed runs include their events.',
    params: componentParams(facts),
    query: facts.listQuery,
    headers: wireFormatHeaders,
    responses: { 200: z.array(facts.listed) },
    handler: async (services: RunServices, { params, query, caller, headers }) => {
      const { session_id: sessionId, include_events: withEvents, ...rest } = query;
      const format = wireFormatOf(services.settings, headers);
      const wanted = { withEvents, hidesUnfinished: format === 'agentos', ...rest };
      const runs = await services.runs.list(caller, { kind, ...params, sessionId }, wanted);
      return jsonPieces(jsonListOf(listed(runs, format)));
    },
  });
}

export function getRun(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'GET',
    path: `${runsPath(facts)}/:run_id`,
    operationId: `get_${kind}_run`,
    scope: readScopes(facts),
    tag: facts.tag,
    summary: 'Get a run',
    description:
      'The stored run. While it is pending or running, its content is empty and it has no messages or tools.',
    params: runParams(facts),
    query: facts.runQuery,
    headers: wireFormatHeaders,
    responses: { 200: facts.body },
    handler: async (services: RunServices, { params, query, caller, headers }) => {
      const view = await services.runs.get(caller, { kind, ...params, sessionId: query.session_id });
      return bodyReply(await services.runs.body(view, wireFormatOf(services.settings, headers)));
    },
  });
}

async function answerOf(
  services: RunServices,
  starting: Promise<StartedRun>,
  format: WireFormat,
): Promise<EventStreamReply | JsonPiecesReply | Reply> {
  const started = await starting;
  const { handle, stream, background, status } = started;
  const { runId, sessionId } = handle.run;
  const headers = runIdHeader(runId);
  if (stream) return eventStream(streamOf(services, started, format), headers);
  if (!background) {
    const body = services.runs.body(await services.runs.ended(started), format);
    return bodyReply(isPromise(body) ? await body : body, headers);
  }
  return reply(202, { run_id: runId, session_id: sessionId, status: statusIn(format, status) }, headers);
}

/** The stream of a workflow that pauses ends with its body: clients of the older interface wait for it. */
function streamOf(services: RunServices, started: StartedRun, format: WireFormat): EventReader {
  const events = started.events();
  if (started.handle.run.kind !== 'workflow' || started.background) return events;
  return pausedOutput(events, async () => {
    // a run that this process gave up has not paused
    const ended = await started.handle.ended.catch(() => undefined);
    if (ended?.run.status !== 'paused') return undefined;
    return services.runs.body(await services.runs.ended(started), format);
  });
}

async function* listed(runs: AsyncIterable<ListedRun>, format: WireFormat) {
  for await (const { view, events } of runs)
    yield listedRunJson(listedRunOf(view, await runMediaOf(view.run, describeOnly), format), events);
}

async function describeOnly(): Promise<undefined> {
  return undefined;
}
