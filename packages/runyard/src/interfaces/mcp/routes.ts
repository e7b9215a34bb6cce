import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import { defineRoute, type EncodeError, type HttpMethod, type Route } from '../../platform/http/route.js';
import { RpcRefusal } from './json-rpc.js';
import type { McpService } from './mcp-service.js';
import type { ServiceOnDemand } from './service-on-demand.js';
import type { Asker } from './transport/live-session.js';

interface McpServices {
  readonly mcp: ServiceOnDemand;
}

const operations: readonly {
  readonly method: HttpMethod;
  readonly operationId: string;
  readonly summary: string;
  readonly answer: (mcp: McpService, asker: Asker, body: unknown) => Promise<unknown>;
}[] = [
  {
    method: 'POST',
    operationId: 'send_mcp_message',
    summary: 'Send messages of the Model Context Protocol',
    answer: (mcp, asker, body) => mcp.post(body, asker),
  },
  {
    method: 'GET',
    operationId: 'follow_mcp_stream',
    summary: 'Open or resume a stream of the Model Context Protocol',
    answer: (mcp, asker) => mcp.get(asker),
  },
  {
    method: 'DELETE',
    operationId: 'end_mcp_session',
    summary: 'End a session of the Model Context Protocol',
    answer: (mcp, asker) => mcp.delete(asker),
  },
];

/** The endpoint. Its messages are described by its protocol. */
export function mcpRoutes(encodeError: EncodeError): readonly Route<Services>[] {
  return operations.map(({ method, operationId, summary, answer }) =>
    defineRoute({
      method,
      path: '/mcp',
      operationId,
      scope: null,
      tag: 'MCP',
      summary,
      addition: true,
      undocumented: true,
      ...(method === 'POST' && { body: z.unknown() }),
      responses: { 200: { description: 'Messages of the protocol.' } },
      admit: ({ mcp }: McpServices, request, usual) => mcp.admission.admit(request, usual),
      encodeError,
      handler: async ({ mcp }: McpServices, request) => {
        try {
          return await answer(await mcp.service(), request, request.body);
        } catch (error) {
          if (error instanceof RpcRefusal) return error.reply;
          throw error;
        }
      },
    }),
  );
}
