import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
} from '@modelcontextprotocol/server';
import { Reply } from '../../platform/http/response/results.js';

export const rpcCodes = { parse: -32_700, invalidRequest: -32_600, server: -32_000 } as const;

/** A request that is refused before a server sees it. */
export class RpcRefusal extends Error {
  constructor(readonly reply: Reply) {
    super('refused');
  }
}

export function refusal(status: number, message: string, options: RpcErrorOptions = {}): RpcRefusal {
  return new RpcRefusal(rpcError(status, message, options));
}

export interface RpcErrorOptions {
  readonly code?: number;
  readonly id?: RequestId;
  readonly data?: unknown;
}

/** An answer of the endpoint itself. Without the id of a request it has one that no request has. */
export function rpcError(
  status: number,
  message: string,
  { code = rpcCodes.invalidRequest, id = 'server-error', data }: RpcErrorOptions = {},
): Reply {
  const error = { code, message, ...(data !== undefined && { data }) };
  return new Reply(status, { jsonrpc: '2.0', id, error });
}

/** Reads the whole message. Of a message that passed, its fields alone say which kind it is. */
export function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null) return false;
  if (!('method' in value)) return isJSONRPCResponse(value);
  return 'id' in value ? isJSONRPCRequest(value) : isJSONRPCNotification(value);
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

export function isAnswer(message: JSONRPCMessage): message is JSONRPCResponse {
  return !('method' in message);
}

export function isIncidental(message: JSONRPCMessage): message is JSONRPCResponse | JSONRPCNotification {
  return !isRequest(message);
}
