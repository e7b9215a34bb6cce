import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { lazyObject, lazySchema } from '../../../core/schemas/lazy-schema.js';
import { type DataScope, scopeNaming } from '../../../platform/auth/caller.js';
import { boundsOf } from '../../../platform/http/defences/time-bounds.js';
import { databaseQuery } from '../../../platform/http/request/database-query.js';
import { formInteger } from '../../../platform/http/request/fields.js';
import { largestPage } from '../../../platform/http/request/pagination.js';
import { jsonListOf } from '../../../platform/http/response/json-stream.js';
import { jsonPieces } from '../../../platform/http/response/results.js';
import {
  type WireFormat,
  type WireFormatSettings,
  wireFormatHeaders,
  wireFormatOf,
} from '../../../platform/http/response/wire-format.js';
import { defineRoute, type Route } from '../../../platform/http/route.js';
import { listedRun, listedTeamRun, listedWorkflowRun } from '../bodies/listed-run-schema.js';
import { listedRunJson } from '../bodies/listed-runs.js';
import { includeEvents } from '../schema.js';
import type { SessionRunsQuery, SessionRunsService, SessionSpace } from '../session-runs-service.js';

export interface SessionRunServices {
  readonly sessionRuns: SessionRunsService;
  readonly settings: WireFormatSettings;
}

const seconds = (what: string) =>
  formInteger()
    .optional()
    .meta({ description: `Only runs created at this time or ${what}, in Unix seconds.` });

const sessionParams = lazyObject(() => ({ session_id: z.string() }));

const runQuery = lazyObject(() => ({
  type: z
    .enum(['agent', 'team', 'workflow'])
    .optional()
    .meta({ description: 'Validated only; each run has the format of its own kind.' }),
  user_id: z.string().optional().meta({ description: 'The user that the session must belong to.' }),
  ...databaseQuery(),
}));

export const sessionRunsQuery = lazyObject(() => ({
  ...runQuery.shape,
  created_after: seconds('later'),
  created_before: seconds('earlier'),
  limit: formInteger({ min: 1, max: largestPage }).optional().meta({
    description: 'The maximum number of runs, not counting those of members. Default: all.',
    'x-addition': true,
  }),
  page: formInteger({ min: 1 })
    .optional()
    .meta({ description: 'With limit: the page number, starting at 1.', 'x-addition': true }),
  sort_order: z.enum(['asc', 'desc']).default('asc').meta({
    description: 'By the start of the runs: asc for the oldest first, desc for the newest first.',
    'x-addition': true,
  }),
  include_events: includeEvents,
}));

const sessionRun = lazySchema(() => z.union([listedRun, listedTeamRun, listedWorkflowRun]), {
  id: 'SessionRun',
  description: 'A run of a session: of an agent, a team or a workflow.',
});

export const sessionRuns = lazySchema(() => z.array(sessionRun));

const listSessionRuns = defineRoute({
  method: 'GET',
  path: '/sessions/:session_id/runs',
  operationId: 'get_session_runs',
  scope: 'sessions:read',
  tag: 'Sessions',
  summary: 'List the runs of a session',
  description:
    'All runs, by default in the order of their start. A run in progress has its text and tool calls so far. ' +
    'Streamed runs include their events. The runs of team members are listed directly before the run of the team; ' +
    'the steps of a workflow are part of its run. Media are described, not included. With `agentos` compatibility, a session whose only ' +
    'runs are unfinished streamed ones gets 404.',
  params: sessionParams,
  query: sessionRunsQuery,
  headers: wireFormatHeaders,
  responses: { 200: sessionRuns },
  handler: async ({ sessionRuns, settings }: SessionRunServices, { params, query, caller, headers }) => {
    const space = await sessionRuns.in(query);
    await checkSession(space, scopeNaming(caller, query.user_id), params.session_id);
    const { created_after: after, created_before: before, limit, page, include_events: withEvents } = query;
    const { sort_order: order } = query;
    const format = wireFormatOf(settings, headers);
    if (format === 'agentos' && (await space.isUnfinished(params.session_id)))
      throw notFound(params.session_id);
    const wanted = { created: boundsOf(after, before), order, limit, page, withEvents };
    return jsonPieces(jsonListOf(listed(space, params.session_id, wanted, format)));
  },
});

const getSessionRun = defineRoute({
  method: 'GET',
  path: '/sessions/:session_id/runs/:run_id',
  operationId: 'get_session_run',
  scope: 'sessions:read',
  tag: 'Sessions',
  summary: 'Get a run of a session',
  description: 'Also returns the runs of team members.',
  params: lazyObject(() => ({ ...sessionParams.shape, run_id: z.string() })),
  query: lazyObject(() => ({ ...runQuery.shape, include_events: includeEvents })),
  headers: wireFormatHeaders,
  responses: { 200: sessionRun },
  handler: async ({ sessionRuns, settings }: SessionRunServices, { params, query, caller, headers }) => {
    const { session_id: sessionId, run_id: runId } = params;
    const space = await sessionRuns.in(query);
    await checkSession(space, scopeNaming(caller, query.user_id), sessionId);
    const found = await space.run(sessionId, runId, query.include_events);
    if (found === undefined) {
      throw errors.runNotFound(
        (await space.hasRuns(sessionId))
          ? `Run with ID ${runId} not found in session ${sessionId}`
          : `Session with ID ${sessionId} has no runs`,
      );
    }
    const { view, events } = found;
    const body = await space.body(view, wireFormatOf(settings, headers), true);
    return jsonPieces(listedRunJson(body, events));
  },
});

export const sessionRunRoutes: readonly Route<SessionRunServices>[] = [listSessionRuns, getSessionRun];

async function checkSession(space: SessionSpace, scope: DataScope, sessionId: string): Promise<void> {
  await space.settle(sessionId);
  if ((await space.sessions.find(scope, sessionId)) === undefined) throw notFound(sessionId);
}

function notFound(sessionId: string): Error {
  return errors.sessionNotFound(`Session with ID ${sessionId} not found`);
}

async function* listed(space: SessionSpace, sessionId: string, query: SessionRunsQuery, format: WireFormat) {
  for await (const run of space.runs(sessionId, query)) {
    for (const { view, events } of [...run.members, run]) {
      yield listedRunJson(withoutNulls(await space.body(view, format)), events ?? undefined);
    }
  }
}

function withoutNulls(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
