import { errors, RunyardError } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { oneLineJson } from '../../core/runs/events/logged-event.js';
import type { EventReader } from '../../platform/http/response/event-reader.js';
import { runIdHeader } from '../../platform/http/response/respond.js';
import {
  type EventStreamReply,
  eventStream,
  type Reply,
  reply,
} from '../../platform/http/response/results.js';
import type { A2aCall, Answer, FrameReader, OperationName } from './call.js';
import type { Dialect } from './dialects/dialect.js';
import { v1 } from './dialects/v1.js';
import { v03 } from './dialects/v03.js';
import { messageOf, protocolError, rpcError } from './protocol-errors.js';

/** What each method does, by its names in both versions. */
const methods: ReadonlyMap<string, { readonly operation: OperationName; readonly dialect: Dialect }> =
  new Map([
    ...methodsOf(v1, {
      SendMessage: 'send',
      SendStreamingMessage: 'stream',
      GetTask: 'get',
      ListTasks: 'list',
      CancelTask: 'cancel',
      SubscribeToTask: 'subscribe',
      CreateTaskPushNotificationConfig: 'push.create',
      GetTaskPushNotificationConfig: 'push.get',
      ListTaskPushNotificationConfigs: 'push.list',
      DeleteTaskPushNotificationConfig: 'push.delete',
      GetExtendedAgentCard: 'extendedCard',
    }),
    ...methodsOf(v03, {
      'message/send': 'send',
      'message/stream': 'stream',
      'tasks/get': 'get',
      'tasks/cancel': 'cancel',
      'tasks/resubscribe': 'subscribe',
      'tasks/pushNotificationConfig/set': 'push.create',
      'tasks/pushNotificationConfig/get': 'push.get',
      'tasks/pushNotificationConfig/list': 'push.list',
      'tasks/pushNotificationConfig/delete': 'push.delete',
      'agent/getAuthenticatedExtendedCard': 'extendedCard',
    }),
  ]);

function methodsOf(dialect: Dialect, names: Readonly<Record<string, OperationName>>) {
  return Object.entries(names).map(([name, operation]) => [name, { operation, dialect }] as const);
}

/** A request whose dialect is not known yet. */
export type RawCall = Omit<A2aCall, 'dialect' | 'isLegacy'>;

/** Answers a body of JSON-RPC. `ofPath`: what the path means if the body names no method, as clients of AgentOS do. */
export async function answerRpc(
  call: RawCall,
  body: JsonObject,
  ofPath?: OperationName,
): Promise<Reply | EventStreamReply> {
  const { id = null, method } = body;
  const isLegacy = method === undefined && ofPath !== undefined;
  try {
    const { operation, dialect } = isLegacy ? { operation: ofPath, dialect: v03 } : methodIn(body);
    const params = paramsIn(body, operation);
    if (typeof id !== 'string' && typeof id !== 'number')
      throw errors.invalidJsonRpc('id must be a text or a number');
    const answer = await perform({ ...call, dialect, isLegacy }, operation, params);
    return replyOf(answer, (result) => ({ jsonrpc: '2.0', id, result }));
  } catch (error) {
    // what is wrong here is for the log, and the answer says nothing of it
    if (!(error instanceof RunyardError) || error.status >= 500) throw error;
    return isLegacy ? legacyError(error) : rpcReply(error, idOf(id));
  }
}

/** Refuses what this interface does not offer, in the words of the protocol. */
export function perform(call: A2aCall, name: OperationName, params: JsonObject): Promise<Answer> {
  const operation = call.operations[name];
  if (operation !== undefined) return operation(call, params);
  throw name === 'extendedCard' ? errors.extendedCardMissing() : errors.pushNotificationsOff();
}

function methodIn({ jsonrpc, method }: JsonObject) {
  if (jsonrpc !== '2.0') throw errors.invalidJsonRpc("jsonrpc must be '2.0'");
  if (typeof method !== 'string') throw errors.invalidJsonRpc('method must be a text');
  const found = methods.get(method);
  if (found === undefined) throw errors.unknownA2aMethod(method.slice(0, 100));
  return found;
}

function paramsIn({ params }: JsonObject, operation: OperationName): JsonObject {
  if (params === undefined && (operation === 'extendedCard' || operation === 'list')) return {};
  if (isJsonObject(params)) return params;
  throw errors.invalidA2aRequest('Invalid A2A request: params must be an object');
}

function idOf(id: Json): Json {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Errors of JSON-RPC come with 200, apart from those of the place itself: who may call, how often, and whether it exists. */
export function rpcReply(error: RunyardError, id: Json): Reply {
  const isOfPlace = [401, 403, 429].includes(error.status) || error.status >= 500 || isUnknownPlace(error);
  return reply(
    isOfPlace ? error.status : 200,
    { ...rpcError(error, id), ...(isOfPlace && { detail: error.detail }) },
    error.options.headers,
  );
}

function isUnknownPlace({ code }: RunyardError): boolean {
  return code === 'agent_not_found' || code === 'team_not_found' || code === 'workflow_not_found';
}

/** As the REST API says it, which clients of AgentOS read. */
export function legacyError(error: RunyardError): Reply {
  const { status } = protocolError(error);
  return reply(
    status,
    { detail: messageOf(error), error_code: error.code, ...error.options.fields },
    error.options.headers,
  );
}

/** An answer as HTTP: a body, or a stream of events. `wrap` puts each value into its envelope. */
export function replyOf(answer: Answer, wrap: (result: Json) => Json): Reply | EventStreamReply {
  const headers = answer.runId === undefined ? undefined : runIdHeader(answer.runId);
  if ('frames' in answer) return eventStream(eventsOf(answer.frames, wrap), headers);
  return reply(answer.status ?? 200, wrap(answer.result), headers);
}

function eventsOf(frames: FrameReader, wrap: (result: Json) => Json): EventReader {
  return {
    next: async () => {
      const some = await frames.next();
      if (some === null) return null;
      return some.map(({ name, result }) => ({ index: null, name, data: oneLineJson(wrap(result)) }));
    },
    close: () => frames.close(),
  };
}
