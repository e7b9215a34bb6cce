import type { CallToolResult, Tool as ShownTool } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, parseJson } from '../../../../core/json.js';
import { jsonSchemaOf } from '../../../../core/schemas/value-schema.js';
import { executeTool } from '../../../../core/tools/call/execute-tool.js';
import { openGate } from '../../../../core/tools/call/gate.js';
import type { Tool } from '../../../../core/tools/tool.js';
import { systemTimers } from '../../../../platform/engine/local/timers.js';
import { type McpTool, type ToolRequest, textBlock } from '../mcp-tool.js';
import { callSite } from './call-site.js';
import { KeptMedia } from './kept-media.js';
import { personAtClient } from './person-at-client.js';

/** The parameter that is the caller's id: clients neither see nor set it. */
const callersId = 'user_id';

/** Whether a call of the tool needs nobody's consent: nothing here could wait for it. */
export function isOpen({ gate }: Tool): boolean {
  return gate === openGate;
}

/** A tool of the application, for clients of the server. */
export function customTool(tool: Tool): McpTool {
  const shown = shownTool(tool);
  return {
    shown,
    async call(request, args) {
      const { call, context } = request;
      // its process is gone, and whether it had its effect is unknown
      if (call.isRepeated && tool.onUnknownOutcome !== 'retry') return failed(interruptedText(tool));
      if (request.caller.userId === null && needsCaller(tool.definition.inputSchema))
        return failed(`'${tool.name}' needs the id of its caller. Send a token that names a user.`);
      const media = new KeptMedia();
      const toolCall = {
        id: call.runId,
        name: tool.name,
        arguments: JSON.stringify(withCaller(tool, request, args)),
      };
      const signal = AbortSignal.any([call.cancelled, context.mcpReq.signal]);
      const environment = {
        availableTools: [],
        timers: systemTimers,
        media,
        questions: { series: () => personAtClient(request), paused: undefined },
      };
      const outcome = await executeTool(tool, toolCall, callSite(request, signal), environment);
      const { content, error, written } = outcome;
      return {
        content: [textBlock(content), ...media.blocks(outcome.media ?? [])],
        isError: error,
        ...(!error && written === 'json' && shown.outputSchema && structured(content)),
      };
    },
  };
}

function shownTool(tool: Tool): ShownTool {
  const { name, description, inputSchema } = tool.definition;
  const output = tool.outputSchema && jsonSchemaOf(tool.outputSchema);
  return {
    name,
    description,
    inputSchema: { ...withoutCaller(inputSchema), type: 'object' },
    // structured results are objects: any other result is its text
    ...(isJsonObject(output) && output.type === 'object' && { outputSchema: { ...output, type: 'object' } }),
    annotations: tool.readOnly
      ? { readOnlyHint: true }
      : { readOnlyHint: false, destructiveHint: tool.sideEffects },
  };
}

function takesCaller({ properties }: JsonObject): boolean {
  return isJsonObject(properties) && Object.hasOwn(properties, callersId);
}

function needsCaller({ required }: JsonObject): boolean {
  return Array.isArray(required) && required.includes(callersId);
}

function withoutCaller(schema: JsonObject): JsonObject {
  if (!takesCaller(schema) || !isJsonObject(schema.properties)) return schema;
  const { [callersId]: _, ...properties } = schema.properties;
  const required = Array.isArray(schema.required) ? schema.required.filter((one) => one !== callersId) : [];
  return { ...schema, properties, required };
}

/** What a client says in place of the caller's id is not read. */
function withCaller(tool: Tool, { caller }: ToolRequest, args: JsonObject): JsonObject {
  if (!takesCaller(tool.definition.inputSchema)) return args;
  const { [callersId]: _, ...others } = args;
  return caller.userId === null ? others : { ...others, [callersId]: caller.userId };
}

function structured(content: string): { structuredContent?: JsonObject } {
  const value = parseJson(content);
  return isJsonObject(value) ? { structuredContent: value } : {};
}

function interruptedText({ name }: Tool): string {
  return `'${name}' was interrupted: the service stopped while it was executed. Whether it had an effect is unknown, so it was not executed again.`;
}

function failed(text: string): CallToolResult {
  return { content: [textBlock(text)], isError: true };
}
