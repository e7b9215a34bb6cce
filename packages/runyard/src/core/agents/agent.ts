import { errors } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { Model } from '../models/model.js';
import { resolveModel } from '../models/resolve.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { RunEvent } from '../runs/logged-event.js';
import type { RunResult } from '../runs/run.js';
import type { Tool } from '../tools/tool.js';
import { endEvents } from './agent-events.js';
import type { AgentDefinition, AgentSettings } from './definition.js';
import { executeAgent } from './execute-agent.js';
import type { AgentRunner, AgentRunOptions, AgentRunOutput, StreamedEvent } from './runner.js';

/** An agent: a model with instructions and tools. Made with `agent()`, registered with `Runyard`, or run as it is. */
export class Agent implements AgentDefinition, Executable {
  readonly kind = 'agent';
  readonly id: string;
  readonly name: string;
  readonly tools: ReadonlyMap<string, Tool>;
  private runner: (() => AgentRunner) | null = null;
  private resolvedModel: Model | null = null;

  constructor(readonly settings: AgentSettings) {
    const { id, name } = settings;
    if (!id && !name)
      throw errors.invalidConfig('An agent needs an id or a name: agent({ id: "assistant", … })');
    this.id = id ?? slug(name!);
    if (!/^[\w.~-]+$/.test(this.id)) {
      throw errors.invalidConfig(
        `Agent id '${this.id}' cannot stand in a URL. Use letters, digits, '-', '_', '.' or '~'.`,
      );
    }
    this.name = name ?? this.id;
    this.tools = byName(this.id, settings.tools ?? []);
  }

  get model(): Model {
    this.resolvedModel ??= resolveModel(this.settings.model);
    return this.resolvedModel;
  }

  get eventFields(): JsonObject {
    return { agent_id: this.id, agent_name: this.name };
  }

  get initialState(): JsonObject {
    return this.settings.sessionState ?? {};
  }

  execute(context: RunContext): Promise<RunResult> {
    return executeAgent(this, context);
  }

  endEvents(end: RunEnd): readonly RunEvent[] {
    return endEvents(end);
  }

  /** Says what `run` and `stream` go through: the service that registers the agent, with its database. */
  attach(runner: () => AgentRunner): void {
    this.runner = runner;
  }

  /** Runs the agent and waits for its end. An agent that no service registers keeps its sessions in memory. */
  run(message: string, options: AgentRunOptions = {}): Promise<AgentRunOutput> {
    return this.currentRunner().run(this, message, options);
  }

  /** Runs the agent and hands out its events as they come; leaving the loop cancels the run. */
  async *stream(message: string, options: AgentRunOptions = {}): AsyncGenerator<StreamedEvent, void, void> {
    yield* this.currentRunner().stream(this, message, options);
  }

  private currentRunner(): AgentRunner {
    if (this.runner === null)
      throw errors.invalidConfig(`Agent '${this.id}' has nothing to run it. Make it with agent().`);
    return this.runner();
  }
}

function slug(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

function byName(agentId: string, tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const map = new Map<string, Tool>();
  for (const tool of tools) {
    if (map.has(tool.name))
      throw errors.invalidConfig(`Agent '${agentId}' has two tools named '${tool.name}'. Rename one.`);
    map.set(tool.name, tool);
  }
  return map;
}
