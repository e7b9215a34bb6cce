import type { ServerContext } from '@modelcontextprotocol/server';
import type { LoggedEvent } from '../../../../core/runs/events/logged-event.js';
import { Workflow } from '../../../../core/workflows/workflow.js';
import type { ToolRequest } from '../mcp-tool.js';
import type { ComponentPlace } from './run-place.js';

/** Reports to a client that asked for it how far its request is. Each message counts one more than the last. */
export class Progress {
  #count: number;

  private constructor(
    private readonly context: ServerContext,
    private readonly token: string | number,
    private readonly isWorkflow: boolean,
    /** How many steps a workflow has; 0 for one that a factory builds. */
    private readonly steps: number,
    from: number,
  ) {
    this.#count = from;
  }

  /** Undefined for a client that did not ask. `from`: what the first message counts. */
  static async of(
    { context, site }: ToolRequest,
    { kind, componentId }: ComponentPlace,
    from = 0,
  ): Promise<Progress | undefined> {
    const token = context.mcpReq._meta?.progressToken;
    if (token === undefined) return undefined;
    const workflow =
      kind === 'workflow' ? await site.services.components.shown(kind, componentId) : undefined;
    const steps = workflow instanceof Workflow ? workflow.nodes.length : 0;
    return new Progress(context, token, kind === 'workflow', steps, from);
  }

  async tell(message: string): Promise<void> {
    const params = { progressToken: this.token, progress: this.#count, message };
    this.#count += 1;
    try {
      await this.context.mcpReq.notify({ method: 'notifications/progress', params });
    } catch {
      // a client that is gone misses the message, and nothing else
    }
  }

  /** What is worth a message: calls of tools, and the steps of a workflow. */
  async event(event: LoggedEvent): Promise<void> {
    const message = await this.#messageOf(event);
    if (message !== undefined) await this.tell(message);
  }

  async #messageOf(logged: LoggedEvent): Promise<string | undefined> {
    if (!watched.has(logged.name)) return undefined;
    const event = await logged.decoded();
    switch (event.event) {
      case 'ToolCallStarted':
      case 'TeamToolCallStarted':
        return this.isWorkflow ? undefined : `Tool call started: ${event.tool.tool_name}`;
      case 'ToolCallCompleted':
      case 'TeamToolCallCompleted':
        return this.isWorkflow ? undefined : `Tool call completed: ${event.tool.tool_name}`;
      case 'ToolCallError':
      case 'TeamToolCallError':
        return this.isWorkflow ? undefined : `Tool call failed: ${event.tool.tool_name}`;
      case 'StepStarted':
        return `Step started: ${event.step_name}${this.#place(event.step_index)}`;
      case 'StepCompleted':
        return `Step completed: ${event.step_name}${this.#place(event.step_index)}`;
      default:
        return undefined;
    }
  }

  /** A step within a group has no number of its own. */
  #place(index: number | readonly number[]): string {
    return typeof index === 'number' && this.steps > 0 ? ` (${index + 1}/${this.steps})` : '';
  }
}

const watched: ReadonlySet<string> = new Set([
  ...['ToolCallStarted', 'ToolCallCompleted', 'ToolCallError'].flatMap((name) => [name, `Team${name}`]),
  'StepStarted',
  'StepCompleted',
]);
