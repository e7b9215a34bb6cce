import type {
  CallToolResult,
  Server,
  ServerContext,
  Tool,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type JsonObject, schemaData } from '../../../core/json.js';
import type { Caller } from '../../../platform/auth/caller.js';
import type { WireFormat } from '../../../platform/http/response/wire-format.js';
import type { McpCall } from '../call.js';
import type { McpToolTag } from '../options.js';
import type { McpSite } from './site.js';

/** A call of a tool, with all that its execution needs. */
export interface ToolRequest {
  readonly site: McpSite;
  readonly server: Server;
  readonly context: ServerContext;
  readonly call: McpCall;
  readonly caller: Caller;
  readonly toolName: string;
  /** How the wire shows runs to this client. */
  readonly format: WireFormat;
}

/** A tool of the server. */
export interface McpTool {
  /** As `tools/list` shows it. */
  readonly shown: Tool;
  /** Throws `InvalidArguments`, or an error of the catalogue. */
  call(request: ToolRequest, args: JsonObject): Promise<CallToolResult>;
}

/** A tool of Runyard's own. */
export interface BuiltinTool extends McpTool {
  readonly tag: McpToolTag;
}

interface BuiltinDefinition<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly tag: McpToolTag;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly args: Shape;
  /** The schema of `structuredContent`; left out where it depends on the settings. */
  readonly output?: { readonly type: 'object'; readonly [key: string]: unknown };
  execute(request: ToolRequest, args: z.output<z.ZodObject<Shape>>): Promise<CallToolResult>;
}

/** Defines a tool. Arguments that it does not have are refused. */
export function builtinTool<Shape extends z.ZodRawShape>(definition: BuiltinDefinition<Shape>): BuiltinTool {
  const { name, title, description, annotations, tag, output } = definition;
  const args = z.strictObject(definition.args);
  const { $schema: _, ...inputSchema } = schemaData(
    z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' }),
  );
  return {
    tag,
    shown: {
      name,
      title,
      description,
      annotations,
      inputSchema: { ...inputSchema, type: 'object' },
      ...(output !== undefined && { outputSchema: output }),
    },
    async call(request, given) {
      const read = args.safeParse(given);
      if (!read.success) throw new InvalidArguments(name, read.error.issues);
      // the schema is that of the definition: the type of a strict object forgets its shape
      return definition.execute(request, read.data as z.output<z.ZodObject<Shape>>);
    },
  };
}

/** Arguments that do not fit the schema of the tool. */
export class InvalidArguments extends Error {
  constructor(toolName: string, issues: readonly z.core.$ZodIssue[]) {
    const lines = issues.flatMap(linesOf);
    const count = `${lines.length} validation error${lines.length === 1 ? '' : 's'}`;
    super([`${count} for call[${toolName}]`, ...lines].join('\n'));
  }
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const place = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') return [`${place || 'arguments'}\n  ${issue.message}`];
  return issue.keys.map((key) => `${[...issue.path.map(String), key].join('.')}\n  Unexpected argument`);
}

/** A value as its text and as data. */
export function objectResult(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [textBlock(JSON.stringify(value))], structuredContent: value, isError: false };
}

export function textBlock(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}

/** An argument that may be left out or null. */
export function optional<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.nullable().default(null).meta({ description });
}
