import { z } from 'zod';
import type { RunKind } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import { jsonList } from '../../platform/http/response/json-stream.js';
import { jsonPieces } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { componentBodyOf, type Fields, type ShownDatabases } from './agent-body.js';
import { modelBody } from './config-part.js';
import {
  agentBody,
  agentParams,
  componentCopy,
  teamBody,
  teamParams,
  versionQuery,
  workflowBody,
  workflowParams,
  workflowQuery,
  workflowSummary,
} from './schema.js';
import type { Component, ComponentsService } from './service.js';
import { listedBodyOf } from './stored-body.js';
import { registeredTeamBody } from './team-body.js';
import { registeredWorkflowBody, registeredWorkflowSummary } from './workflow-body.js';

export interface ComponentServices {
  readonly components: ComponentsService;
  /** The id of the database that is used where a component names none. */
  readonly defaultDatabase: string;
}

const getModels = defineRoute({
  method: 'GET',
  path: '/models',
  operationId: 'get_models',
  scope: 'config:read',
  tag: 'Service',
  summary: 'List the models',
  description:
    'The models of the agents and teams that the caller may see or run, stored ones included, without duplicates.',
  responses: { 200: z.array(modelBody) },
  handler: ({ components }: ComponentServices, { caller }) => components.allModels(caller),
});

const listAgents = defineRoute({
  method: 'GET',
  path: '/agents',
  operationId: 'get_agents',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'List the agents',
  description:
    'All agents that the caller may see: those of the code in the order of their registration, then those that are stored ' +
    'in the order of their creation. One that cannot be built is listed with the reason (degraded).',
  responses: { 200: z.array(agentBody) },
  handler: (services: ComponentServices, { caller }) =>
    listed(services, 'agent', caller, services.components.listAgents(caller), componentBodyOf),
});

const getAgent = defineRoute({
  method: 'GET',
  path: '/agents/:agent_id',
  operationId: 'get_agent',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'Get an agent',
  params: agentParams,
  query: versionQuery,
  responses: { 200: agentBody },
  handler: async (services: ComponentServices, { params, query, caller }) => {
    const agent = await services.components.getAgent(params.agent_id, caller, query);
    return componentBodyOf(agent, databasesOf(services, agent));
  },
});

const listTeams = defineRoute({
  method: 'GET',
  path: '/teams',
  operationId: 'get_teams',
  scope: 'teams:read',
  tag: 'Teams',
  summary: 'List the teams',
  description:
    'All teams that the caller may see, with their members: those of the code, then those that are stored.',
  responses: { 200: z.array(teamBody) },
  handler: (services: ComponentServices, { caller }) =>
    listed(services, 'team', caller, services.components.listTeams(caller), registeredTeamBody),
});

const getTeam = defineRoute({
  method: 'GET',
  path: '/teams/:team_id',
  operationId: 'get_team',
  scope: 'teams:read',
  tag: 'Teams',
  summary: 'Get a team',
  params: teamParams,
  query: versionQuery,
  responses: { 200: teamBody },
  handler: async (services: ComponentServices, { params, query, caller }) => {
    const team = await services.components.getTeam(params.team_id, caller, query);
    return registeredTeamBody(team, databasesOf(services, team));
  },
});

const listWorkflows = defineRoute({
  method: 'GET',
  path: '/workflows',
  operationId: 'get_workflows',
  scope: 'workflows:read',
  tag: 'Workflows',
  summary: 'List the workflows',
  description:
    'All workflows that the caller may see, without their steps: those of the code, then those that are stored.',
  responses: { 200: z.array(workflowSummary) },
  handler: (services: ComponentServices, { caller }) =>
    listed(
      services,
      'workflow',
      caller,
      services.components.listWorkflows(caller),
      registeredWorkflowSummary,
    ),
});

const getWorkflow = defineRoute({
  method: 'GET',
  path: '/workflows/:workflow_id',
  operationId: 'get_workflow',
  scope: 'workflows:read',
  tag: 'Workflows',
  summary: 'Get a workflow',
  description: 'The workflow with the tree of its steps, their order and their conditions.',
  params: workflowParams,
  query: workflowQuery,
  responses: { 200: workflowBody },
  handler: async (services: ComponentServices, { params, query, caller }) => {
    const workflow = await services.components.getWorkflow(params.workflow_id, caller, query);
    return registeredWorkflowBody(workflow, databasesOf(services, workflow));
  },
});

const copied = {
  addition: true,
  tag: 'Components',
  query: versionQuery,
  responses: { 200: componentCopy },
  description:
    'What POST /components takes to store a copy of it under another id. A component whose settings have no name in the ' +
    'registry is refused with the place of each.',
} as const;

const getAgentConfig = defineRoute({
  ...copied,
  method: 'GET',
  path: '/agents/:agent_id/config',
  operationId: 'get_agent_config',
  scope: 'agents:read',
  summary: 'Get the config of an agent',
  params: agentParams,
  handler: ({ components }: ComponentServices, { params, query, caller }) =>
    copyOf(components, 'agent', params.agent_id, query.version, caller),
});

const getTeamConfig = defineRoute({
  ...copied,
  method: 'GET',
  path: '/teams/:team_id/config',
  operationId: 'get_team_config',
  scope: 'teams:read',
  summary: 'Get the config of a team',
  params: teamParams,
  handler: ({ components }: ComponentServices, { params, query, caller }) =>
    copyOf(components, 'team', params.team_id, query.version, caller),
});

const getWorkflowConfig = defineRoute({
  ...copied,
  method: 'GET',
  path: '/workflows/:workflow_id/config',
  operationId: 'get_workflow_config',
  scope: 'workflows:read',
  summary: 'Get the config of a workflow',
  params: workflowParams,
  handler: ({ components }: ComponentServices, { params, query, caller }) =>
    copyOf(components, 'workflow', params.workflow_id, query.version, caller),
});

export const componentRoutes: readonly Route<ComponentServices>[] = [
  getModels,
  listAgents,
  getAgent,
  listTeams,
  getTeam,
  listWorkflows,
  getWorkflow,
  getAgentConfig,
  getTeamConfig,
  getWorkflowConfig,
];

async function copyOf(
  components: ComponentsService,
  kind: RunKind,
  id: string,
  version: number | undefined,
  caller: Caller,
) {
  const copy = await components.copy(kind, id, caller, version);
  const { name, revision, stage, config } = copy;
  return { component_id: id, component_type: kind, name, version: copy.version, revision, stage, config };
}

/** What code registers, then what is stored: as many as there are, so that they are made as the client takes them. */
function listed<Kind extends Component>(
  services: ComponentServices,
  kind: RunKind,
  caller: Caller,
  registered: readonly Kind[],
  bodyOf: (component: Kind, databases: ShownDatabases) => Fields,
) {
  async function* entries() {
    for (const component of registered) yield bodyOf(component, databasesOf(services, component));
    for await (const stored of services.components.listStored(kind, caller))
      yield listedBodyOf(stored, services.defaultDatabase);
  }
  return jsonPieces(jsonList(entries()));
}

function databasesOf({ defaultDatabase }: ComponentServices, { settings }: Component): ShownDatabases {
  return { own: settings.database ?? defaultDatabase, service: defaultDatabase };
}
