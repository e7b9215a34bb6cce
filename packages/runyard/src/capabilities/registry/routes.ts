import { pageOf } from '../../platform/http/request/pagination.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { registryPage, registryQuery } from './schema.js';
import type { RegistryService } from './service.js';

export interface RegistryServices {
  readonly registry: RegistryService;
}

const listRegistry = defineRoute({
  method: 'GET',
  path: '/registry',
  operationId: 'list_registry',
  scope: 'registry:read',
  tag: 'Components',
  summary: 'List what configurations can refer to',
  description:
    'What the code registers, and what its agents, teams and workflows use: models, tools, schemas, functions and ' +
    'more, by type and name. Agents and teams are those that the caller may see or run.',
  query: registryQuery,
  responses: { 200: registryPage },
  handler: ({ registry }: RegistryServices, { query, caller }) => {
    const begun = performance.now();
    const { resource_type: type, name } = query;
    const { items, total } = registry.list(caller, { type, name }, query);
    const shown = items.map(({ owner: _, ...entry }) => entry);
    const tookMs = Math.round((performance.now() - begun) * 1_000) / 1_000;
    return pageOf(shown, query, total, tookMs);
  },
});

export const registryRoutes: readonly Route<RegistryServices>[] = [listRegistry];
