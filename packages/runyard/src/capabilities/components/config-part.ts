import { z } from 'zod';
import { ComponentFactory } from '../../core/factories/component-factory.js';
import type { RegisteredAgent, RegisteredTeam } from '../../core/factories/registered.js';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { Component, ComponentsService } from './service.js';

export const modelBody = lazyObject(() => ({ id: z.string(), provider: z.string() }), {
  id: 'Model',
  description: 'A model that an agent or the leader of a team uses.',
  examples: [{ id: 'offline', provider: 'Runyard' }],
});

const summary = lazyObject(() => ({
  id: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  db_id: z.string().optional(),
}));

const versionFacts = () => ({
  is_factory: z.boolean().optional(),
  factory_input_schema: z.looseObject({}).optional(),
  is_component: z.boolean().optional(),
  current_version: z.int().optional(),
  stage: z.string().optional(),
});

/** What components add to the body of `/config`. */
export const configShape = () => ({
  available_models: z.array(z.string()).optional(),
  agents: z.array(summary.extend({ model: modelBody.optional(), metadata: z.looseObject({}).optional() })),
  teams: z.array(summary.extend({ mode: z.string().optional(), model: modelBody.optional() })),
  workflows: z.array(summary.extend(versionFacts())),
});

/** What is registered, as far as the caller may see or run it: not even the name of anything else. */
export function configPart(components: ComponentsService, defaultDatabase: string, caller: Caller) {
  const { agents, teams, workflows } = components.shownTo(caller);
  const summaryOf = ({ id, name, settings: { description, database } }: Component) => ({
    id,
    name,
    description,
    db_id: database ?? defaultDatabase,
  });
  return {
    available_models: components.models(caller).map((model) => model.id),
    agents: agents.map((agent) => ({
      ...summaryOf(agent),
      model: modelOf(agent),
      metadata: agent.settings.metadata,
    })),
    teams: teams.map((team) => ({
      ...summaryOf(team),
      mode: team instanceof ComponentFactory ? undefined : team.mode,
      model: modelOf(team),
    })),
    workflows: workflows.map((workflow) => ({
      ...summaryOf(workflow),
      ...(workflow instanceof ComponentFactory
        ? { is_factory: true, factory_input_schema: workflow.inputSchema }
        : { is_factory: false }),
      is_component: false,
    })),
  };
}

/** How many components of the code the caller may see or run. */
export function countsPart(components: ComponentsService, caller: Caller) {
  const { agents, teams, workflows } = components.shownTo(caller);
  return { agent_count: agents.length, team_count: teams.length, workflow_count: workflows.length };
}

/** Which model a factory will choose is not known before it builds something. */
function modelOf(component: RegisteredAgent | RegisteredTeam) {
  const model = component instanceof ComponentFactory ? null : component.model;
  return model === null ? undefined : { id: model.id, provider: model.provider };
}
