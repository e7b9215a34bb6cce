import type { IncomingHttpHeaders } from 'node:http';
import type { Services } from '../../capabilities/capability.js';
import type { Json, JsonObject } from '../../core/json.js';
import { assertMay } from '../../platform/auth/authenticator.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { ComponentName } from '../common/exposed-components.js';
import type { Dialect, Frame } from './dialects/dialect.js';
import type { A2aConfig } from './options.js';
import type { TaskPlace } from './task.js';

/** One request of a client, in whatever dialect. */
export interface A2aCall {
  readonly services: Services;
  readonly config: A2aConfig;
  readonly operations: Operations;
  readonly target: ComponentName;
  readonly caller: Caller;
  readonly dialect: Dialect;
  /** Whether the client is one of AgentOS: it names no method, and reads errors as the REST API has them. */
  readonly isLegacy: boolean;
  readonly headers: IncomingHttpHeaders;
  /** Where the service is mounted in another server. */
  readonly basePath: string;
  /** By which the client reaches the service. */
  readonly calledAddress: string;
  /** Aborts when the client disconnects. Made for a call that asks for it. */
  readonly disconnected: () => AbortSignal;
}

export type OperationName =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'push.create'
  | 'push.get'
  | 'push.list'
  | 'push.delete'
  | 'extendedCard';

export interface FrameReader {
  /** At least one frame; null at the end. */
  next(): Promise<readonly Frame[] | null>;
  close(): void;
}

/** What an operation answers with. JSON-RPC puts it into an envelope, HTTP+JSON sends it as it is. */
export type Answer =
  | { readonly result: Json; readonly status?: number | undefined; readonly runId?: string | undefined }
  | { readonly frames: FrameReader; readonly runId: string };

/** Answers a request whose parameters are in the form of the call's dialect. It checks what the caller may do. */
export type Operation = (call: A2aCall, params: JsonObject) => Promise<Answer>;

/**
 * What the interface can do. An operation that is not there is refused in the words of the protocol. `attach` checks the
 * push notifications that a message asks for before its run begins, and registers them for its task.
 */
export interface Operations extends Partial<Readonly<Record<OperationName, Operation>>> {
  readonly attach?: (call: A2aCall, config: JsonObject) => (task: TaskPlace) => Promise<void>;
}

/** What a caller needs to start and to change runs of the component of a call. */
export function assertMayRun(call: A2aCall): void {
  assertMayWith(call, ['run']);
}

/** What a caller needs to read runs of the component of a call. */
export function assertMayRead(call: A2aCall): void {
  assertMayWith(call, ['read', 'run']);
}

function assertMayWith({ caller, target }: A2aCall, actions: readonly string[]): void {
  const { kind, componentId } = target;
  const scope = actions.map((action) => `${kind}s:${action}`);
  assertMay(caller, { scope, params: { [`${kind}_id`]: componentId } });
}
