import { anonymousCaller } from '../../platform/auth/caller.js';
import { consoleAddress, prefersPage } from '../../platform/http/console/browser-request.js';
import { reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import type { Described } from '../capability.js';
import { configBodyOf, healthBody, homeBody, infoBodyOf, readyBody } from './schema.js';
import type { SystemService } from './service.js';

export interface SystemServices {
  readonly system: SystemService;
}

const getHealth = defineRoute({
  method: 'GET',
  path: '/health',
  operationId: 'health_check',
  public: true,
  tag: 'Service',
  summary: 'Check that the service responds',
  responses: { 200: healthBody },
  handler: ({ system }: SystemServices) => system.health(),
});

const getReady = defineRoute({
  method: 'GET',
  path: '/ready',
  operationId: 'readiness_check',
  scope: null,
  tag: 'Service',
  summary: 'Check that the service is ready',
  description:
    'Checks that each database accepts writes and has the right schema, and that the engine keeps its runs. 503 with the same ' +
    'body if a check fails or the service is stopping.',
  addition: true,
  responses: {
    200: readyBody,
    503: { description: 'The service is not ready. Send requests to another process.', schema: readyBody },
  },
  handler: async ({ system }: SystemServices) => {
    const report = await system.ready();
    return reply(report.status === 'ready' ? 200 : 503, report);
  },
});

const getHome = defineRoute({
  method: 'GET',
  path: '/',
  operationId: 'get_api_info',
  scope: null,
  tag: 'Service',
  summary: 'Identify the service',
  responses: { 200: homeBody },
  // a browser sends no token with an address that is opened, and the console asks for one
  admit: ({ system }: SystemServices, request, usual) =>
    system.hasConsole && prefersPage(request.headers) ? anonymousCaller : usual(request),
  handler: ({ system }: SystemServices, request) => {
    if (!system.hasConsole) return system.home();
    const vary = { vary: 'accept' };
    return prefersPage(request.headers)
      ? reply(303, undefined, { ...vary, location: consoleAddress(request) })
      : reply(200, system.home(), vary);
  },
});

const getInfo = (all: readonly Described[]) =>
  defineRoute({
    method: 'GET',
    path: '/info',
    operationId: 'get_info',
    scope: null,
    tag: 'Service',
    summary: 'Get information about the service',
    description:
      'Identity, version, number of components, authentication method, number of runs in progress, and number of runs that wait for an unregistered component.',
    responses: { 200: infoBodyOf(all) },
    handler: ({ system }: SystemServices, { caller }) => system.info(caller),
  });

const getConfig = (all: readonly Described[]) =>
  defineRoute({
    method: 'GET',
    path: '/config',
    operationId: 'get_config',
    scope: 'config:read',
    tag: 'Service',
    summary: 'Get the configuration',
    description:
      'The databases and interfaces of this service, and the components that the caller may see or run.',
    responses: { 200: configBodyOf(all) },
    handler: ({ system }: SystemServices, { caller }) => system.config(caller),
  });

/** `/info` and `/config` are described with what the capabilities and interfaces add to them. */
export function systemRoutes(all: readonly Described[]): readonly Route<SystemServices>[] {
  return [getHealth, getReady, getHome, getInfo(all), getConfig(all)];
}
