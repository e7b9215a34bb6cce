import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import { errors, type RunyardError } from '../../core/errors/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';
import { type Reply, reply } from '../../platform/http/response/results.js';
import {
  defineRoute,
  type EncodeError,
  type HttpMethod,
  type Route,
  type RouteRequest,
} from '../../platform/http/route.js';
import type { ComponentName } from '../common/exposed-components.js';
import type { OperationName, Operations } from './call.js';
import type { Dialect } from './dialects/dialect.js';
import { v1 } from './dialects/v1.js';
import { v03Rest } from './dialects/v03.js';
import { answerRpc, legacyError, perform, type RawCall, replyOf, rpcReply } from './json-rpc.js';
import type { A2aConfig } from './options.js';
import { messageOf, protocolError, restError, restError03 } from './protocol-errors.js';

type A2aRoute = Route<Services>;
type Request = RouteRequest<Readonly<Record<string, string>>, JsonObject, unknown>;

/** The routes of one mounted interface: a path for each binding of the protocol, below the path of each component. */
export function a2aRoutes(config: A2aConfig, operations: Operations): readonly A2aRoute[] {
  const site = { config, operations };
  const ofKinds = (['agent', 'team', 'workflow'] as const).flatMap((kind) => {
    const at = new ComponentRoutes(site, kind);
    return [
      ...at.rpcRoutes(),
      ...at.restRoutes('', v1, (error) => restReply(error, restError(error))),
      ...at.restRoutes('/v1', v03Rest, (error) =>
        restReply(error, { ...restError03(error), detail: messageOf(error) }),
      ),
    ];
  });
  return [...ofKinds, ...deprecatedRoutes(site)];
}

function restReply(error: RunyardError, body: JsonObject): Reply {
  return reply(protocolError(error).status, body, error.options.headers);
}

interface Site {
  readonly config: A2aConfig;
  readonly operations: Operations;
}

const anyBody = z.unknown();
const anyQuery = z.looseObject({});
const anyParams = z.record(z.string(), z.string());
const answers = { 200: { description: 'The answer of the protocol, or the stream of its events.' } };

/** What a task's path may end with, after a colon. */
const actionsOfTask = new Map<string, OperationName>([
  ['cancel', 'cancel'],
  ['subscribe', 'subscribe'],
]);

class ComponentRoutes {
  private readonly idName: string;
  private readonly base: string;

  constructor(
    private readonly site: Site,
    private readonly kind: RunKind,
  ) {
    this.idName = `${kind}_id`;
    this.base = `${site.config.prefix}/${kind}s/:${this.idName}`;
  }

  /** One address for all methods, and those of AgentOS, of which each is meant for one. */
  rpcRoutes(): readonly A2aRoute[] {
    const encode: EncodeError = (error) => rpcReply(error, null);
    const ofTasks = (operation: 'get' | 'cancel') =>
      this.route('POST', `/v1/tasks::${operation}`, `${operation}_task`, legacyError, (call, { body }) =>
        answerRpc(call, envelopeIn(body), operation),
      );
    return [
      this.route('POST', '', 'call', encode, (call, { body }) => answerRpc(call, envelopeIn(body))),
      ofTasks('get'),
      ofTasks('cancel'),
    ];
  }

  /** HTTP+JSON. A body with an envelope is one of JSON-RPC, also here. */
  restRoutes(below: '' | '/v1', dialect: Dialect, encode: EncodeError): readonly A2aRoute[] {
    const by = (operation: OperationName, paramsOf: (request: Request) => JsonObject) => {
      return async (call: RawCall, request: Request) =>
        replyOf(
          await perform({ ...call, dialect, isLegacy: false }, operation, paramsOf(request)),
          (one) => one,
        );
    };
    const messages = (operation: 'send' | 'stream') =>
      this.route(
        'POST',
        `${below}/message::${operation}`,
        `${operation}_message`,
        encode,
        (call, request) => {
          const body = objectIn(request.body);
          return 'jsonrpc' in body
            ? answerRpc(call, body, below === '/v1' ? operation : undefined)
            : by(operation, () => body)(call, request);
        },
      );
    const atTask = (method: 'GET' | 'POST', otherwise: OperationName | undefined) =>
      this.route(
        method,
        `${below}/tasks/:task_id`,
        `${method.toLowerCase()}_task`,
        encode,
        (call, request) => {
          const { id, operation = otherwise } = taskIn(request.params.task_id ?? '');
          if (operation === undefined) throw errors.notFound();
          return by(operation, ({ query }) => ({ ...query, id }))(call, request);
        },
      );
    const configs = `${below}/tasks/:task_id/pushNotificationConfigs`;
    const pushParams = ({ params, body }: Request): JsonObject => {
      const { task_id: taskId = '', config_id: id } = params;
      return { ...(body !== undefined && objectIn(body)), taskId, ...(id !== undefined && { id }) };
    };
    const push = (method: HttpMethod, path: string, operation: OperationName) =>
      this.route(method, path, `${operation.replace('.', '_')}_config`, encode, by(operation, pushParams));
    const list = by('list', ({ query }) => query);
    return [
      messages('send'),
      messages('stream'),
      ...(below === '' ? [this.route('GET', '/tasks', 'list_tasks', encode, list)] : []),
      atTask('GET', 'get'),
      atTask('POST', undefined),
      push('POST', configs, 'push.create'),
      push('GET', configs, 'push.list'),
      push('GET', `${configs}/:config_id`, 'push.get'),
      push('DELETE', `${configs}/:config_id`, 'push.delete'),
      this.route(
        'GET',
        below === '' ? '/extendedAgentCard' : '/v1/card',
        'extended_card',
        encode,
        by('extendedCard', () => ({})),
      ),
    ];
  }

  private route(
    method: HttpMethod,
    path: string,
    name: string,
    encodeError: EncodeError,
    answer: (call: RawCall, request: Request) => Promise<unknown>,
  ): A2aRoute {
    const { kind, site, idName } = this;
    const whole = this.base + path;
    return defineRoute({
      method,
      path: whole,
      operationId: operationId(whole, method),
      scope: [`${kind}s:read`, `${kind}s:run`],
      tag: 'A2A',
      summary: `${name.replaceAll('_', ' ')} (A2A)`,
      params: anyParams,
      ...(method === 'GET' && { query: anyQuery }),
      ...(method === 'POST' && { body: anyBody, carriesFiles: true }),
      responses: answers,
      addition: true,
      undocumented: true,
      encodeError,
      handler: (services: Services, request) => {
        // the schemas above are those of a request
        const given = request as Request;
        const target = { kind, componentId: given.params[idName] ?? '' };
        return answer(callOf(site, services, given, target), given);
      },
    });
  }
}

/** Every path has one: the description of the API asks for it. */
function operationId(path: string, method: string): string {
  return `a2a_${method}${path.replace(/[^A-Za-z0-9]+/g, '_')}`.toLowerCase();
}

function callOf(
  { config, operations }: Site,
  services: Services,
  request: Request,
  target: ComponentName,
): RawCall {
  const { caller, headers, basePath, calledAddress } = request;
  const disconnected = () => request.signal;
  checkVersion(headers['a2a-version']);
  if (!config.exposes(target.kind, target.componentId)) throw errors.componentNotFound(target.kind);
  return { services, config, operations, target, caller, headers, disconnected, basePath, calledAddress };
}

const versions = /^\s*(1(\.0)?|0\.3)(\.\d+)?\s*$/;

function checkVersion(version: string | string[] | undefined): void {
  if (version === undefined || version === '') return;
  const text = String(version);
  if (!versions.test(text)) throw errors.a2aVersionNotSupported(text.slice(0, 40));
}

function envelopeIn(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw errors.invalidJsonRpc('the body must be an object');
}

function objectIn(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw errors.invalidA2aRequest('Invalid A2A request: the body must be an object');
}

/** `id:cancel` is the task `id` and what to do with it. */
function taskIn(text: string): { readonly id: string; readonly operation?: OperationName } {
  const colon = text.lastIndexOf(':');
  const operation = colon < 0 ? undefined : actionsOfTask.get(text.slice(colon + 1));
  return operation === undefined ? { id: text } : { id: text.slice(0, colon), operation };
}

/** Of AgentOS: one path for all components. The message, or a header, names the component. */
function deprecatedRoutes(site: Site): readonly A2aRoute[] {
  return (['send', 'stream'] as const).map((operation) =>
    defineRoute({
      method: 'POST',
      path: `${site.config.prefix}/message/${operation}`,
      operationId: `a2a_${operationId(site.config.prefix, operation)}_message`,
      scope: 'agents:run',
      tag: 'A2A',
      summary: `${operation} a message (A2A, deprecated)`,
      body: anyBody,
      carriesFiles: true,
      responses: answers,
      undocumented: true,
      encodeError: legacyError,
      handler: async (services: Services, given) => {
        // a path without parameters, and a body that is checked below
        const request = given as unknown as Request;
        const body = envelopeIn(request.body);
        const target = await namedComponent(site, services, body, request.headers['x-agent-id']);
        return answerRpc(callOf(site, services, request, target), body, operation);
      },
    }),
  );
}

async function namedComponent(
  { config }: Site,
  { components }: Services,
  { params }: JsonObject,
  header: string | string[] | undefined,
): Promise<ComponentName> {
  const message = isJsonObject(params) ? params.message : undefined;
  const id = (isJsonObject(message) ? message.agentId : undefined) ?? header;
  if (typeof id !== 'string' || id === '')
    throw errors.invalidA2aRequest(
      "Entity ID required. Provide it in params.message.agentId or in the header 'X-Agent-ID'.",
    );
  for (const kind of ['agent', 'team', 'workflow'] as const) {
    if (config.exposes(kind, id) && (await components.home(kind, id)) !== undefined)
      return { kind, componentId: id };
  }
  throw errors.unknownA2aComponent(id.slice(0, 100));
}
