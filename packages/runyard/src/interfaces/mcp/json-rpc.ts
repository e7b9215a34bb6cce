import type { RequestId } from '@modelcontextprotocol/server';
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
