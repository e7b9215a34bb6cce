import type { Fields } from '../../../../capabilities/capability.js';
import { ComponentFactory } from '../../../../core/factories/component-factory.js';
import { isJsonObject } from '../../../../core/json.js';
import type { RunKind } from '../../../../core/runs/run.js';
import { assertMay } from '../../../../platform/auth/authenticator.js';
import type { Caller } from '../../../../platform/auth/caller.js';
import { builtinTool, objectResult } from '../mcp-tool.js';
import type { McpSite } from '../site.js';

/** How many stored components of a kind are listed. */
const mostStored = 1_000;

export const configTool = builtinTool({
  name: 'get_agentos_config',
  tag: 'core',
  title: 'List what can be run',
  description: 'The agents, teams and workflows of this service, with their ids and descriptions.',
  annotations: { readOnlyHint: true, idempotentHint: true },
  args: {},
  output: { type: 'object', additionalProperties: true },
  async execute({ site, caller }) {
    assertMay(caller, { scope: 'config:read', params: {} });
    const { os_id, description, databases, agents, teams, workflows } = site.services.system.config(caller);
    return objectResult({
      os_id,
      description,
      databases,
      agents: [...listed(site, 'agent', agents), ...(await storedOf(site, caller, 'agent'))],
      teams: [...listed(site, 'team', teams), ...(await storedOf(site, caller, 'team'))],
      workflows: [...listed(site, 'workflow', workflows), ...(await storedOf(site, caller, 'workflow'))],
    });
  },
});

/** What is registered. A client that runs a factory has to know what it takes. */
function listed({ services }: McpSite, kind: RunKind, value: unknown): Fields[] {
  return (Array.isArray(value) ? value : []).map((fields: Fields) => {
    const component = services.components.find(kind, String(fields.id));
    if (!(component instanceof ComponentFactory)) return fields;
    return { ...fields, is_factory: true, factory_input_schema: component.inputSchema };
  });
}

/** Stored components that the caller may see or run. One that cannot be built cannot be run, and is left out. */
async function storedOf({ services }: McpSite, caller: Caller, kind: RunKind): Promise<Fields[]> {
  const found: Fields[] = [];
  for await (const { stored, component } of services.components.listStored(kind, caller, ['read', 'run'])) {
    if (component === undefined) continue;
    if (found.length === mostStored) break;
    const { id, version, stage } = stored;
    const { model } = component;
    const { db } = stored.config;
    found.push({
      id,
      name: component.name,
      description: component.settings.description,
      db_id: isJsonObject(db) && typeof db.id === 'string' ? db.id : services.defaultDatabase,
      ...(model && { model: { id: model.id, provider: model.provider } }),
      ...('mode' in component && { mode: component.mode }),
      ...(kind === 'workflow' && { is_factory: false }),
      is_component: true,
      ...(stage === 'published' && { current_version: version }),
      stage,
    });
  }
  return found;
}
