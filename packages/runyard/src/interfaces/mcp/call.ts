import type { IncomingHttpHeaders } from 'node:http';
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { Caller } from '../../platform/auth/caller.js';

/** A request of a client, as its handler sees it beside the message. */
export interface McpCall {
  readonly caller: Caller;
  /**
   * The id of the run that this request starts, if it starts one: `newRunId` of the form's context. It stays the same
   * when the request is dispatched again, so that the request finds its run.
   */
  readonly runId: string;
  /**
   * The process that began this request is gone, and the client came back for the answer. What the request did may have
   * been done: look for the run first, and do nothing twice. A run that is not there yet is started with `run_id` of the
   * form, which of two processes only one can take.
   */
  readonly isRepeated: boolean;
  /**
   * Aborts when the client cancels the request, and only then: neither when it disconnects nor when the process stops.
   * (The `signal` of the library's context also aborts in these cases.)
   */
  readonly cancelled: AbortSignal;
  /** Of the HTTP request that brought the message. */
  readonly headers: IncomingHttpHeaders;
  readonly basePath: string;
}

/** The call that a handler serves. Requests to the client need `{ relatedRequestId: context.mcpReq.id }`. */
export function mcpCallOf(context: ServerContext): McpCall {
  const call = context.http?.authInfo?.extra?.call;
  if (call === undefined) throw new Error('The transport hands a call to every handler.');
  // only `authInfoOf` writes it
  return call as McpCall;
}

/** What the library passes from the transport to the handlers. The token stays where it was checked. */
export function authInfoOf(call: McpCall): AuthInfo {
  return { token: '', clientId: '', scopes: [], extra: { call } };
}
