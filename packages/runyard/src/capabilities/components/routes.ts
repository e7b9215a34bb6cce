import { z } from 'zod';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { componentBodyOf } from './agent-body.js';
import { agentBody, agentParams } from './schema.js';
import type { ComponentsService } from './service.js';

export interface ComponentServices {
  readonly components: ComponentsService;
  /** The id of the database that is used where a component names none. */
  readonly defaultDatabase: string;
}

const listAgents = defineRoute({
  method: 'GET',
  path: '/agents',
  operationId: 'get_agents',
  scope: 'agents:read',
  tag: 'Agents',
  summary: 'List the agents',
  description: 'All agents that can be run, in the order of their registration.',
  responses: { 200: z.array(agentBody) },
  handler: ({ components, defaultDatabase }: ComponentServices) =>
    components
      .listAgents()
      .map((agent) => componentBodyOf(agent, agent.settings.database ?? defaultDatabase)),
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
  handler: ({ components, defaultDatabase }: ComponentServices, { params }) => {
    const agent = components.getAgent(params.agent_id);
    return componentBodyOf(agent, agent.settings.database ?? defaultDatabase);
  },
});

export const componentRoutes: readonly Route<ComponentServices>[] = [listAgents, getAgent];
