import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { RemoteConnection } from '../../../core/remote/remote-options.js';
import { RemoteFault } from '../../../core/remote/remote-service.js';
import { hopsHeader } from '../../../core/runs/run.js';
import { framesOf, objectIn } from '../event-stream.js';
import { HttpConnection } from '../http-connection.js';
import type { A2aInterface } from './agent-card.js';

/** An operation, by its names in JSON-RPC of both versions and its place in HTTP+JSON. */
interface Operation {
  readonly '1.0': string;
  readonly '0.3': string | undefined;
  readonly method: 'GET' | 'POST';
  path(params: JsonObject): string;
}

const task = ({ id }: JsonObject) => `/tasks/${encodeURIComponent(String(id))}`;

export const operations = {
  send: { '1.0': 'SendMessage', '0.3': 'message/send', method: 'POST', path: () => '/message:send' },
  stream: {
    '1.0': 'SendStreamingMessage',
    '0.3': 'message/stream',
    method: 'POST',
    path: () => '/message:stream',
  },
  get: { '1.0': 'GetTask', '0.3': 'tasks/get', method: 'GET', path: task },
  list: {
    '1.0': 'ListTasks',
    '0.3': undefined,
    method: 'GET',
    path: (params) =>
      `/tasks?${new URLSearchParams(Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]))}`,
  },
  cancel: {
    '1.0': 'CancelTask',
    '0.3': 'tasks/cancel',
    method: 'POST',
    path: (params) => `${task(params)}:cancel`,
  },
  subscribe: {
    '1.0': 'SubscribeToTask',
    '0.3': 'tasks/resubscribe',
    method: 'POST',
    path: (params) => `${task(params)}:subscribe`,
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

const taskNotFound = -32001;

/** Calls the operations of one agent over the binding that its card offers. */
export class A2aBinding {
  private readonly connection: HttpConnection;
  private calls = 0;

  constructor(
    options: RemoteConnection,
    readonly offered: A2aInterface,
  ) {
    this.connection = new HttpConnection({ ...options, url: offered.url });
  }

  async call(name: OperationName, params: JsonObject, signal: AbortSignal, hops = 0): Promise<JsonObject> {
    const body = await this.connection.json(this.request(name, params, signal, hops));
    return this.offered.binding === 'JSONRPC' ? resultIn(body) : body;
  }

  async *stream(
    name: OperationName,
    params: JsonObject,
    signal: AbortSignal,
    hops = 0,
  ): AsyncGenerator<JsonObject> {
    const request = this.request(name, params, signal, hops);
    for await (const { data } of framesOf(this.connection.stream(request))) {
      const body = objectIn(data);
      yield this.offered.binding === 'JSONRPC' ? resultIn(body) : body;
    }
  }

  private request(name: OperationName, params: JsonObject, signal: AbortSignal, hops: number) {
    const { binding, version } = this.offered;
    const operation: Operation = operations[name];
    const headers = {
      'content-type': 'application/json',
      ...(version === '1.0' && { 'a2a-version': '1.0' }),
      ...(hops > 0 && { [hopsHeader]: String(hops) }),
    };
    if (binding === 'HTTP+JSON') {
      const body = operation.method === 'POST' ? { body: JSON.stringify(params) } : {};
      return { method: operation.method, path: operation.path(params), headers, signal, ...body };
    }
    const method = operation[version];
    if (method === undefined) throw new RemoteFault('refused', `version ${version} of A2A has no ${name}`);
    this.calls += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.calls, method, params });
    return { method: 'POST', path: '', headers, signal, body } as const;
  }
}

function resultIn({ result, error }: JsonObject): JsonObject {
  if (isJsonObject(error)) {
    const message = String(error.message ?? error.code).slice(0, 500);
    throw new RemoteFault(error.code === taskNotFound ? 'absent' : 'refused', message);
  }
  if (isJsonObject(result)) return result;
  throw new RemoteFault('refused', 'its answer has neither a result nor an error');
}
