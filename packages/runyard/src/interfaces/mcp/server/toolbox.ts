import type { CallToolResult, Server, ServerContext, Tool as ShownTool } from '@modelcontextprotocol/server';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Log } from '../../../core/log.js';
import { collectFixedTools, collectTools, toolSourcesOf } from '../../../core/tools/collect-tools.js';
import type { Tool } from '../../../core/tools/tool.js';
import { wireFormatOf } from '../../../platform/http/response/wire-format.js';
import { mcpCallOf } from '../call.js';
import type { McpConfig } from '../options.js';
import { customTool, isOpen } from './custom/custom-tool.js';
import { configTool } from './data/config-tool.js';
import { extraTools } from './data/extra-tools.js';
import { sessionTools } from './data/session-tools.js';
import { type BuiltinTool, type McpTool, textBlock } from './mcp-tool.js';
import { cancelRunTool } from './runs/cancel-tool.js';
import { continueRunTool } from './runs/continue-tool.js';
import { runTools } from './runs/run-tools.js';
import type { McpSite } from './site.js';
import { failureResult, requestCancelled } from './tool-errors.js';

const builtinTools: readonly BuiltinTool[] = [
  configTool,
  ...runTools,
  continueRunTool,
  cancelRunTool,
  ...sessionTools,
  ...extraTools,
];

const owner = 'mcp()';

/** The tools that `mcp()` offers: Runyard's own that are offered, and those of the application. */
export class Toolbox {
  readonly #builtin: ReadonlyMap<string, McpTool>;
  /** Undefined where a source has to be asked. */
  readonly #fixed: ReadonlyMap<string, McpTool> | undefined;

  constructor(private readonly config: McpConfig) {
    const { tags, tools } = config;
    const offered = builtinTools.filter(({ tag }) => tags.has(tag));
    this.#builtin = new Map(offered.map((tool) => [tool.shown.name, tool]));
    const custom = [...collectFixedTools(owner, tools).tools.values()];
    for (const tool of custom) this.#check(tool);
    this.#fixed = toolSourcesOf(tools).length > 0 ? undefined : byName(custom);
  }

  async list({ log }: McpSite, signal: AbortSignal): Promise<ShownTool[]> {
    return [...this.#builtin.values(), ...(await this.#custom(log, signal)).values()].map(
      ({ shown }) => shown,
    );
  }

  async call(
    site: McpSite,
    server: Server,
    { name, arguments: given }: { name: string; arguments?: unknown },
    context: ServerContext,
  ): Promise<CallToolResult> {
    const call = mcpCallOf(context);
    const tool = this.#builtin.get(name) ?? (await this.#custom(site.log, context.mcpReq.signal)).get(name);
    if (tool === undefined)
      return { content: [textBlock(`Unknown tool: '${name.slice(0, 200)}'`)], isError: true };
    const args: JsonObject = isJsonObject(given) ? given : {};
    const { caller, headers } = call;
    const format = wireFormatOf(site.settings, headers);
    const request = { site, server, context, call, caller, format, toolName: name };
    try {
      return await tool.call(request, args);
    } catch (error) {
      // nobody waits for the answer of a request that is cancelled, or whose connection is closed
      if (call.cancelled.aborted) throw requestCancelled();
      if (context.mcpReq.signal.aborted) throw error;
      return failureResult(request, args, error);
    }
  }

  /** What a source has is asked for each time: its tools may change. */
  async #custom(log: Log, signal: AbortSignal): Promise<ReadonlyMap<string, McpTool>> {
    if (this.#fixed !== undefined) return this.#fixed;
    const { tools } = await collectTools(owner, this.config.tools, (source) =>
      source.tools(signal, log).catch((error: unknown) => {
        signal.throwIfAborted();
        // the other tools work all the same
        log.warn({ err: error, source: source.name }, 'the MCP server leaves out the tools of a source');
        return [];
      }),
    );
    return byName([...tools.values()].filter((tool) => isOpen(tool) && !this.#builtin.has(tool.name)));
  }

  /** Releases what the sources hold. They reconnect when they are asked again. */
  async close(): Promise<void> {
    await Promise.all(toolSourcesOf(this.config.tools).map((source) => source.close()));
  }

  #check(tool: Tool): void {
    if (this.#builtin.has(tool.name))
      throw errors.invalidConfig(
        `${owner}: the tool '${tool.name}' has the name of a built-in tool. Rename it, or leave out the built-in tools of its group (excludeTags).`,
      );
    if (!isOpen(tool))
      throw errors.invalidConfig(
        `${owner}: the tool '${tool.name}' waits for a person or another program, which only a run can. Give it to an agent.`,
      );
  }
}

function byName(tools: readonly Tool[]): ReadonlyMap<string, McpTool> {
  return new Map(tools.map((tool) => [tool.name, customTool(tool)]));
}
