import { ResourceRoutes } from '../../platform/http/resource-routes.js';
import { jsonPage } from '../../platform/http/response/json-stream.js';
import { eventStream, jsonPieces, reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { compareEvalRuns } from './comparison/routes.js';
import { evalBodyOf, resultBodyOf } from './eval-body.js';
import {
  deleteBody,
  evalBody,
  evalParams,
  evalQuery,
  evalRun,
  evalsPage,
  eventsHeaders,
  listEvalsQuery,
  renameBody,
  resultsPage,
  resultsQuery,
} from './schema.js';
import type { EvalsService } from './service.js';

export interface EvalServices {
  readonly evals: EvalsService;
}

const tag = 'Evals';
const resource = new ResourceRoutes<EvalServices>(tag, 'evals');

const runEval = defineRoute({
  method: 'POST',
  path: '/eval-runs',
  operationId: 'run_eval',
  scope: 'evals:write',
  tag,
  summary: 'Run an eval',
  description:
    'Executes a component and judges what it does. Besides evals:write, the caller needs the right to run the ' +
    'component; to grade stored runs, the right to read them. The runs belong to the caller. A run that fails or ' +
    'pauses is listed in errors and not judged.',
  query: evalQuery,
  body: evalBody,
  responses: {
    200: { description: 'The eval has ended.', schema: evalRun },
    202: { description: 'The eval continues in the background.', schema: evalRun },
  },
  handler: async ({ evals }: EvalServices, { query, body, caller, signal }) => {
    const stored = await evals.start(caller, query, body, signal);
    const hasEnded = stored.status !== 'pending' && stored.status !== 'running';
    return reply(hasEnded && !body.background ? 200 : 202, evalBodyOf(stored));
  },
});

const listEvals = resource.get({
  path: '/eval-runs',
  operationId: 'get_eval_runs',
  summary: 'List evals',
  description: 'Evals, newest first. An eval must match all filters.',
  query: listEvalsQuery,
  shows: evalsPage,
  handler: async ({ evals }, { query, caller }) => {
    const { entries, total } = await evals.list(caller, query);
    // page 0 means the first one
    const page = { limit: query.limit, page: Math.max(query.page, 1) };
    return jsonPieces(jsonPage(shown(entries, evalBodyOf), page, total));
  },
});

const getEval = resource.get({
  path: '/eval-runs/:eval_run_id',
  operationId: 'get_eval_run',
  summary: 'Get an eval',
  params: evalParams,
  query: evalQuery,
  shows: evalRun,
  handler: async ({ evals }, { params, query, caller }) =>
    evalBodyOf(await evals.get(caller, query, params.eval_run_id)),
});

const renameEval = resource.change({
  path: '/eval-runs/:eval_run_id',
  operationId: 'update_eval_run',
  summary: 'Rename an eval',
  params: evalParams,
  query: evalQuery,
  body: renameBody,
  shows: evalRun,
  handler: async ({ evals }, { params, query, body, caller }) =>
    evalBodyOf(await evals.rename(caller, query, params.eval_run_id, body.name)),
});

const deleteEvals = resource.remove({
  path: '/eval-runs',
  operationId: 'delete_eval_runs',
  summary: 'Delete several evals',
  description:
    'Deletes evals with their results and with the sessions that they created. Evals in progress are cancelled.',
  query: evalQuery,
  body: deleteBody,
  gone: 'Deleted, or there was nothing that the caller may delete.',
  handler: ({ evals }, { query, body, caller }) =>
    evals.remove(caller, query, [...new Set(body.eval_run_ids)], body.delete_sessions),
});

const cancelEval = defineRoute({
  method: 'POST',
  path: '/eval-runs/:eval_run_id/cancel',
  operationId: 'cancel_eval_run',
  scope: 'evals:write',
  tag,
  summary: 'Cancel an eval',
  description:
    'Ends an eval and its runs in progress. Its results so far stay. One that has ended stays as it is.',
  addition: true,
  params: evalParams,
  query: evalQuery,
  responses: { 200: evalRun },
  handler: async ({ evals }: EvalServices, { params, query, caller }) =>
    evalBodyOf(await evals.cancel(caller, query, params.eval_run_id)),
});

const followEval = defineRoute({
  method: 'GET',
  path: '/eval-runs/:eval_run_id/events',
  operationId: 'follow_eval_run_events',
  scope: 'evals:read',
  tag,
  summary: 'Follow an eval',
  description:
    'For an EventSource: the stored and live events after Last-Event-ID. 204, which closes an EventSource, if the ' +
    'events are no longer stored.',
  addition: true,
  params: evalParams,
  query: evalQuery,
  headers: eventsHeaders,
  responses: {
    200: {
      description: 'The stream of events.',
      events:
        'Server-sent events, with their index as id: JobStarted, JobProgress (done, total, percent, message, and data ' +
        'with failures), and at the end JobCompleted, JobFailed or JobCancelled.',
    },
    204: { description: 'No events are stored.' },
  },
  handler: async ({ evals }: EvalServices, { params, query, caller, headers }) => {
    const last = headers['last-event-id'];
    const events = await evals.events(caller, query, params.eval_run_id, last ? Number(last) : -1);
    return events === undefined ? reply(204) : eventStream(events);
  },
});

const listResults = defineRoute({
  method: 'GET',
  path: '/eval-runs/:eval_run_id/results',
  operationId: 'get_eval_run_results',
  scope: 'evals:read',
  tag,
  summary: 'List the results of an eval',
  description: 'One entry for each execution of a case, in the order of the cases, with all scores.',
  addition: true,
  params: evalParams,
  query: resultsQuery,
  responses: { 200: resultsPage },
  handler: async ({ evals }: EvalServices, { params, query, caller }) => {
    const { entries, total } = await evals.results(caller, query, params.eval_run_id);
    const page = { limit: query.limit, page: Math.max(query.page, 1) };
    return jsonPieces(jsonPage(shown(entries, resultBodyOf), page, total));
  },
});

async function* shown<Entry>(entries: AsyncIterable<Entry>, bodyOf: (entry: Entry) => unknown) {
  for await (const entry of entries) yield bodyOf(entry);
}

export const evalRoutes: readonly Route<EvalServices>[] = [
  runEval,
  listEvals,
  deleteEvals,
  getEval,
  renameEval,
  cancelEval,
  followEval,
  listResults,
  compareEvalRuns,
];
