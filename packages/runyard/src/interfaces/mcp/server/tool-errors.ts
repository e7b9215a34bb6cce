import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server';
import { errorCode } from '../../../core/errors/error-code.js';
import { RunyardError } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import { InvalidArguments, type ToolRequest, textBlock } from './mcp-tool.js';

/** What went wrong about a run that is known, or was asked for: the client gets its id beside the text. */
export class RunProblem extends Error {
  constructor(
    message: string,
    readonly run: { readonly run_id: string; readonly session_id: string | null; readonly status: string },
  ) {
    super(message);
  }
}

/** The answer to a request that its client cancelled, in the words of the wire contract. */
export function requestCancelled(): ProtocolError {
  return new ProtocolError(0, 'Request cancelled');
}

/** A failure as the result of a tool: what the model reads, and may correct. Protocol errors are none. */
export function failureResult(request: ToolRequest, args: JsonObject, error: unknown): CallToolResult {
  if (error instanceof ProtocolError) throw error;
  if (error instanceof InvalidArguments) return { content: [textBlock(error.message)], isError: true };
  if (error instanceof RunProblem)
    return { ...failedCall(request.toolName, error.message), structuredContent: { ...error.run } };
  return failedCall(request.toolName, reasonOf(request, args, error));
}

export function failedCall(toolName: string, reason: string): CallToolResult {
  return { content: [textBlock(`Error calling tool '${toolName}': ${reason}`)], isError: true };
}

const componentNames = new Map([
  ['agent_not_found', ['Agent', 'agent_id']],
  ['team_not_found', ['Team', 'team_id']],
  ['workflow_not_found', ['Workflow', 'workflow_id']],
]);

/** The texts of the wire contract, which name what was asked for. */
function reasonOf(request: ToolRequest, args: JsonObject, error: unknown): string {
  if (!(error instanceof RunyardError)) return unexpected(request, error);
  const [kind, idName = ''] = componentNames.get(error.code) ?? [];
  if (kind !== undefined) return `${kind} ${String(args[idName])} not found`;
  if (errorCode(error) === 'session_not_found' && args.session_id)
    return `Session ${String(args.session_id)} not found`;
  if (errorCode(error) === 'database_unknown') return `404: ${error.message}`;
  if (error.status >= 500 && !error.isReported) logged(request, error);
  return error.message;
}

/** What the error says is for the log: it may hold anything. */
function unexpected(request: ToolRequest, error: unknown): string {
  logged(request, error);
  return 'The service could not do this. Its log has the details.';
}

function logged({ site, toolName }: ToolRequest, error: unknown): void {
  site.log.error({ err: error, tool: toolName }, 'a tool of the MCP server failed');
}
