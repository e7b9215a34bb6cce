import { z } from 'zod';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { componentBodyOf, type ShownDatabases } from './agent-body.js';
import { modelBody } from './config-part.js';
import {
  agentBody,
  agentParams,
  teamBody,
  teamParams,
  workflowBody,
  workflowParams,
  workflowQuery,
  workflowSummary,
} from './schema.js';
import type { Component, ComponentsService } from './service.js';
import { teamBodyOf } from './team-body.js';
import { workflowBodyOf, workflowSummaryOf } from './workflow-body.js';

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
  description: 'The models of the agents and teams that the caller may see or run, without duplicates.',
  responses: { 200: z.array(modelBody) },
  handler: ({ components }: ComponentServices, { caller }) => components.models(caller),
});

const listAgents = defineRoute({
  method: 'GET',
  path: '/agents',
  operationId: 'get_agents',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'List the agents',
  description: 'All agents that the caller may see, in the order of their registration.',
  responses: { 200: z.array(agentBody) },
  handler: (services: ComponentServices, { caller }) =>
    services.components
      .listAgents(caller)
      .map((agent) => componentBodyOf(agent, databasesOf(services, agent))),
});

const getAgent = defineRoute({
  method: 'GET',
  path: '/agents/:agent_id',
  operationId: 'get_agent',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'Get an agent',
  params: agentParams,
  responses: { 200: agentBody },
  handler: (services: ComponentServices, { params, caller }) => {
    const agent = services.components.getAgent(params.agent_id, caller);
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
  description: 'All teams that the caller may see, in the order of their registration, with their members.',
  responses: { 200: z.array(teamBody) },
  handler: (services: ComponentServices, { caller }) =>
    services.components.listTeams(caller).map((team) => teamBodyOf(team, databasesOf(services, team))),
});

const getTeam = defineRoute({
  method: 'GET',
  path: '/teams/:team_id',
  operationId: 'get_team',
  scope: 'teams:read',
  tag: 'Teams',
  summary: 'Get a team',
  params: teamParams,
  responses: { 200: teamBody },
  handler: (services: ComponentServices, { params, caller }) => {
    const team = services.components.getTeam(params.team_id, caller);
    return teamBodyOf(team, databasesOf(services, team));
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
    'All workflows that the caller may see, in the order of their registration, without their steps.',
  responses: { 200: z.array(workflowSummary) },
  handler: (services: ComponentServices, { caller }) =>
    services.components
      .listWorkflows(caller)
      .map((workflow) => workflowSummaryOf(workflow, databasesOf(services, workflow))),
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
  handler: (services: ComponentServices, { params, caller }) => {
    const workflow = services.components.getWorkflow(params.workflow_id, caller);
    return workflowBodyOf(workflow, databasesOf(services, workflow));
  },
});

export const componentRoutes: readonly Route<ComponentServices>[] = [
  getModels,
  listAgents,
  getAgent,
  listTeams,
  getTeam,
  listWorkflows,
  getWorkflow,
];

function databasesOf({ defaultDatabase }: ComponentServices, { settings }: Component): ShownDatabases {
  return { own: settings.database ?? defaultDatabase, service: defaultDatabase };
}
