import { z } from 'zod';
import { eventStream, reply } from '../../platform/http/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { listedRunOf, type RunView, runBodyOf, runMediaOf, type WireFormat } from './run-body.js';
import {
  agentParams,
  agentRunParams,
  createRunForm,
  listedRun,
  listRunsQuery,
  runBody,
  runQuery,
  startedRun,
} from './schema.js';
import type { RunsService } from './service.js';

export interface RunServices {
  readonly runs: RunsService;
  readonly settings: { readonly compatibility: 'none' | 'agentos' };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const createAgentRun = defineRoute({
  method: 'POST',
  path: '/agents/:agent_id/runs',
  operationId: 'create_agent_run',
  scope: 'agents:run',
  tag: 'Agents',
  summary: 'Run an agent',
  description:
    'Sends a message to an agent. The answer is a stream of events, one JSON body (stream=false), or an ' +
    'acknowledgement (background=true). A run goes on when its client disconnects, unless on_disconnect=cancel.',
  accepts: 'form',
  params: agentParams,
  body: createRunForm,
  responses: {
    200: { description: 'The run, or the stream of its events.', schema: runBody, events: true },
    202: startedRun,
  },
  handler: async (services: RunServices, { params, body, caller, headers }) => {
    const started = await services.runs.create(caller, 'agent', params.agent_id, body);
    const { run } = started.handle;
    const format = formatOf(services, headers);
    // an id of the client's may have characters that no header can carry
    if (started.stream) return eventStream(started.events(), { 'x-run-id': encodeURIComponent(run.runId) });
    if (!started.background) return shown(services, await services.runs.ended(started), format);
    const status = format === 'agentos' ? 'PENDING' : 'pending';
    return reply(202, { run_id: run.runId, session_id: run.sessionId, status });
  },
});

const listAgentRuns = defineRoute({
  method: 'GET',
  path: '/agents/:agent_id/runs',
  operationId: 'list_agent_runs',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'List the runs of an agent',
  description: 'Runs of a session, oldest first; without session_id the runs of the agent, newest first.',
  params: agentParams,
  query: listRunsQuery,
  responses: { 200: z.array(listedRun) },
  handler: async (services: RunServices, { params, query, caller, headers }) => {
    const { session_id: sessionId, ...rest } = query;
    const views = await services.runs.list(caller, 'agent', params.agent_id, { sessionId, ...rest });
    const format = formatOf(services, headers);
    return Promise.all(
      views.map(async (view) => listedRunOf(view, await runMediaOf(view.run, describeOnly), format)),
    );
  },
});

const getAgentRun = defineRoute({
  method: 'GET',
  path: '/agents/:agent_id/runs/:run_id',
  operationId: 'get_agent_run',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'Get a run',
  description:
    'The run as stored. While it is pending or running its content is empty, and it has no messages or tools.',
  params: agentRunParams,
  query: runQuery,
  responses: { 200: runBody },
  handler: async (services: RunServices, { params, query, caller, headers }) => {
    const view = await services.runs.get(caller, 'agent', params.agent_id, params.run_id, query.session_id);
    return shown(services, view, formatOf(services, headers));
  },
});

export const runRoutes: readonly Route<RunServices>[] = [createAgentRun, listAgentRuns, getAgentRun];

async function shown(
  { runs }: RunServices,
  view: RunView,
  format: WireFormat,
): Promise<Record<string, unknown>> {
  const media = await runMediaOf(view.run, (item) => runs.showMedia(view.run, item));
  return runBodyOf(view, media, format);
}

async function describeOnly(): Promise<undefined> {
  return undefined;
}

function formatOf({ settings }: RunServices, headers: Headers): WireFormat {
  const asked = settings.compatibility === 'agentos' || headers['x-runyard-compat'] === 'agentos';
  return asked ? 'agentos' : 'runyard';
}
