import { z } from 'zod';

import { pageOf } from '../../../platform/http/request/pagination.js';
import { ResourceRoutes } from '../../../platform/http/resource-routes.js';
import { jsonPieces, reply } from '../../../platform/http/response/results.js';
import type { Route } from '../../../platform/http/route.js';
import type { SchedulesService } from '../../schedules/service.js';
import {
  bareConfigBodyOf,
  changeBodyOf,
  componentBodyOf,
  configBodyOf,
  configList,
  dependentBodyOf,
  dependentScheduleOf,
  diffBodyOf,
  linksBodyOf,
} from './bodies.js';
import { dependentsPage } from './dependents-schema.js';
import { componentUpdate, givenComponent, newVersion, versionUpdate } from './given-bodies.js';
import {
  componentBody,
  componentParams,
  componentsPage,
  configBody,
  createComponentBody,
  createConfigBody,
  diffBody,
  diffQuery,
  getComponentQuery,
  historyPage,
  linksBody,
  listComponentsQuery,
  listConfigsQuery,
  listDependentsQuery,
  listHistoryQuery,
  revisionQuery,
  updateComponentBody,
  updateConfigBody,
  versionParams,
} from './schema.js';
import type { StoredComponentsService } from './service.js';
import type { StoredComponent, VersionWithContent } from './stored-component.js';
import type { ComponentVersionsService } from './versions-service.js';

/** What the routes call. */
interface RouteServices extends StoredComponentServices {
  readonly schedules: SchedulesService;
}

export interface StoredComponentServices {
  readonly storedComponents: StoredComponentsService;
  readonly componentVersions: ComponentVersionsService;
}

const resource = new ResourceRoutes<RouteServices>('Components', 'components');

const listComponents = resource.get({
  path: '/components',
  operationId: 'list_components',
  summary: 'List components',
  description: 'Newest first. Components of the code are not listed, nor stored ones that they hide.',
  query: listComponentsQuery,
  shows: componentsPage,
  handler: async ({ storedComponents }, { query }) => {
    const begun = performance.now();
    const { component_type: kind, include_deleted: includeDeleted, ...page } = query;
    const { items, total } = await storedComponents.list({ kind, includeDeleted, ...page });
    return pageOf(
      items.map((one) => componentBodyOf(one)),
      page,
      total,
      performance.now() - begun,
    );
  },
});

const createComponent = resource.create({
  path: '/components',
  operationId: 'create_component',
  summary: 'Create a component',
  description:
    'Stores an agent, a team or a workflow with its first version. Members of a team that are stored components are ' +
    'pinned to their current versions. The id of a deleted component takes it up again: its versions stay.',
  body: createComponentBody,
  shows: componentBody,
  handler: async (services, { body, caller }) =>
    reply(
      201,
      await changedComponent(services, await services.storedComponents.create(caller, givenComponent(body))),
    ),
});

const getComponent = resource.get({
  path: '/components/:component_id',
  operationId: 'get_component',
  summary: 'Get a component',
  params: componentParams,
  query: getComponentQuery,
  shows: componentBody,
  handler: async ({ storedComponents }, { params, query }) =>
    componentBodyOf(await storedComponents.get(params.component_id, query.include_deleted)),
});

const updateComponent = resource.change({
  path: '/components/:component_id',
  operationId: 'update_component',
  summary: 'Change a component',
  description:
    'Fields that are left out stay as they are; null removes the description and the metadata. The type cannot change ' +
    'while the component has versions.',
  params: componentParams,
  body: updateComponentBody,
  shows: componentBody,
  handler: async (services, { params, body, caller }) =>
    changedComponent(
      services,
      await services.storedComponents.update(caller, params.component_id, componentUpdate(body)),
    ),
});

const deleteComponent = resource.remove({
  path: '/components/:component_id',
  operationId: 'delete_component',
  summary: 'Delete a component',
  description:
    'The component no longer runs; runs in progress continue. It can be restored. 409 if another component uses it.',
  params: componentParams,
  query: revisionQuery,
  gone: 'The component is deleted, or was deleted before.',
  handler: ({ storedComponents }, { params, query, caller }) =>
    storedComponents.remove(caller, params.component_id, query.expected_revision),
});

const restoreComponent = resource.act({
  path: '/components/:component_id/restore',
  operationId: 'restore_component',
  addition: true,
  summary: 'Restore a deleted component',
  description: 'The component is as it was before it was deleted. One that is not deleted stays as it is.',
  params: componentParams,
  query: revisionQuery,
  shows: componentBody,
  handler: async (services, { params, query, caller }) =>
    changedComponent(
      services,
      await services.storedComponents.restore(caller, params.component_id, query.expected_revision),
    ),
});

const listDependents = resource.get({
  path: '/components/:component_id/dependents',
  operationId: 'list_component_dependents',
  addition: true,
  summary: 'List what depends on a component',
  description:
    'The versions of other stored components that refer to it, with the version that they pin. Schedules that run or ' +
    'evaluate it are in a list of their own, for callers who may read schedules.',
  params: componentParams,
  query: listDependentsQuery,
  shows: dependentsPage,
  handler: async ({ storedComponents, schedules }, { params, query, caller }) => {
    const { component_id: id } = params;
    const { items, total } = await storedComponents.dependents(id, query);
    const { kind } = await storedComponents.get(id);
    const naming = await schedules.naming(caller, kind, id);
    return {
      ...pageOf(items.map(dependentBodyOf), query, total),
      schedules: naming.map(dependentScheduleOf),
    };
  },
});

const listHistory = resource.get({
  path: '/components/:component_id/history',
  operationId: 'list_component_history',
  addition: true,
  summary: 'List the changes of a component',
  description: 'Who changed what, newest first. The newest 1,000 changes are kept.',
  params: componentParams,
  query: listHistoryQuery,
  shows: historyPage,
  handler: async ({ storedComponents }, { params, query }) => {
    const { items, total } = await storedComponents.history(params.component_id, query);
    return pageOf(items.map(changeBodyOf), query, total);
  },
});

const compareConfigs = resource.get({
  path: '/components/:component_id/diff',
  operationId: 'compare_component_configs',
  addition: true,
  summary: 'Compare two versions',
  description: 'What differs, field by field. Changed texts of several lines are shown line by line.',
  params: componentParams,
  query: diffQuery,
  shows: diffBody,
  handler: async ({ componentVersions }, { params, query }) => {
    const from = { version: query.from, revision: query.from_revision };
    const to = { version: query.to, revision: query.to_revision };
    const { component_id: id } = params;
    return diffBodyOf(id, await componentVersions.compare(id, from, to));
  },
});

const listConfigs = resource.get({
  path: '/components/:component_id/configs',
  operationId: 'list_configs',
  summary: 'List the versions of a component',
  description: 'Newest first.',
  params: componentParams,
  query: listConfigsQuery,
  shows: z.array(configBody),
  handler: async ({ componentVersions }, { params, query }) => {
    const { component_id: id } = params;
    return query.include_config
      ? jsonPieces(configList(await componentVersions.list(id, query)))
      : (await componentVersions.bareList(id, query)).map(bareConfigBodyOf);
  },
});

const createConfig = resource.create({
  path: '/components/:component_id/configs',
  operationId: 'create_config',
  summary: 'Add a version',
  description: 'Adds a draft, or a published version, which becomes the current one.',
  params: componentParams,
  body: createConfigBody,
  shows: configBody,
  handler: async (services, { params, body, caller }) => {
    const created = await services.componentVersions.create(caller, params.component_id, newVersion(body));
    return reply(201, await changedVersion(services, created));
  },
});

const getCurrentConfig = resource.get({
  path: '/components/:component_id/configs/current',
  operationId: 'get_current_config',
  summary: 'Get the version that runs',
  description: 'The current version, or the newest draft if none is current.',
  params: componentParams,
  shows: configBody,
  handler: async ({ componentVersions }, { params }) =>
    configBodyOf(await componentVersions.current(params.component_id)),
});

const getConfig = resource.get({
  path: '/components/:component_id/configs/:version',
  // the contract has get_config twice, which no description may
  operationId: 'get_component_config',
  summary: 'Get a version',
  params: versionParams,
  shows: configBody,
  handler: async ({ componentVersions }, { params }) =>
    configBodyOf(await componentVersions.get(params.component_id, params.version)),
});

const getConfigLinks = resource.get({
  path: '/components/:component_id/configs/:version/links',
  operationId: 'get_component_config_links',
  addition: true,
  summary: 'Get the links of a version',
  description: 'The versions of other components that it pins.',
  params: versionParams,
  shows: linksBody,
  handler: async ({ componentVersions }, { params }) =>
    linksBodyOf(await componentVersions.get(params.component_id, params.version)),
});

const updateConfig = resource.change({
  path: '/components/:component_id/configs/:version',
  operationId: 'update_config',
  summary: 'Save or publish a draft',
  description:
    'Fields that are left out stay as they are; null removes the label and the notes. With the stage published, the ' +
    'version never changes again and becomes the current one.',
  params: versionParams,
  body: updateConfigBody,
  shows: configBody,
  handler: async (services, { params, body, caller }) => {
    const { component_id: id, version } = params;
    const saved = await services.componentVersions.update(caller, id, version, versionUpdate(body));
    return changedVersion(services, saved);
  },
});

const deleteConfig = resource.remove({
  path: '/components/:component_id/configs/:version',
  operationId: 'delete_config',
  summary: 'Delete a draft',
  description:
    'Its number is not used again. Published versions stay, and so do versions that others pin (409).',
  params: versionParams,
  query: revisionQuery,
  gone: 'The draft is deleted.',
  handler: ({ componentVersions }, { params, query, caller }) =>
    componentVersions.remove(caller, params.component_id, params.version, query.expected_revision),
});

const setCurrentConfig = resource.act({
  path: '/components/:component_id/configs/:version/set-current',
  operationId: 'set_current_config',
  summary: 'Make a version the current one',
  description: 'Rolls back to an earlier published version, or forward to a later one.',
  params: versionParams,
  query: revisionQuery,
  shows: componentBody,
  handler: async (services, { params, query, caller }) => {
    const { component_id: id, version } = params;
    const { componentVersions } = services;
    return changedComponent(
      services,
      await componentVersions.setCurrent(caller, id, version, query.expected_revision),
    );
  },
});

export const storedComponentRoutes: readonly Route<RouteServices>[] = [
  listComponents,
  createComponent,
  getComponent,
  updateComponent,
  deleteComponent,
  restoreComponent,
  listDependents,
  listHistory,
  compareConfigs,
  listConfigs,
  createConfig,
  getCurrentConfig,
  getConfig,
  getConfigLinks,
  updateConfig,
  deleteConfig,
  setCurrentConfig,
];

/** What is stored may name what does not exist (yet): that is no fault of the request, and its answer says so. */
async function changedComponent({ storedComponents }: StoredComponentServices, component: StoredComponent) {
  return componentBodyOf(component, await storedComponents.degraded(component));
}

async function changedVersion({ storedComponents }: StoredComponentServices, version: VersionWithContent) {
  const component = await storedComponents.get(version.componentId, true);
  return configBodyOf(version, await storedComponents.degraded(component, version.version));
}
