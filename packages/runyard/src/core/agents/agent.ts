import type { z } from 'zod';
import { identify } from '../component-id.js';
import { errors } from '../errors/errors.js';
import type { AgentEvent, RunEvent } from '../events/run-event.js';
import { fingerprintOf } from '../fingerprint.js';
import type { JsonObject } from '../json.js';
import type { Model } from '../models/model.js';
import { resolveModel } from '../models/resolve.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { RunLimits } from '../runs/limits/run-limits.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, RunResult, StepRecord } from '../runs/run.js';
import { collectFixedTools, toolSourcesOf } from '../tools/collect-tools.js';
import type { Tool } from '../tools/tool.js';
import type { ToolEntry } from '../tools/toolkit.js';
import { endEvents } from './agent-events.js';
import { agentOptions } from './agent-options.js';
import { agentStructure } from './agent-structure.js';
import { checkStageSettings } from './check-stage-settings.js';
import { continuationOf } from './continuation/continuation.js';
import type { AgentContinueOptions } from './continuation/continue-in-code.js';
import type { AgentDefinition, AgentSettings } from './definition.js';
import { executeAgent } from './execute-agent.js';
import { checkInput } from './hooks/input-schema.js';
import { metricsOf } from './metrics.js';
import type { AgentRunOptions } from './run-options.js';
import type { AgentRunner, AgentRunOutput } from './runner.js';
import { builtInTools } from './turns/built-in/built-in-tools.js';

/** An agent: a model with instructions and tools. Made with `agent()`, registered with `Runyard`, or run as it is. */
export class Agent implements AgentDefinition, Executable {
  readonly kind = 'agent';
  readonly id: string;
  readonly name: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolInstructions: readonly string[];
  readonly toolEntries: readonly ToolEntry[];
  private runner: (() => AgentRunner) | null = null;
  private resolvedModel: Model | null = null;
  private structure: string | undefined;

  constructor(readonly settings: AgentSettings) {
    checkOptions(ownerOf('Agent', settings), settings, agentOptions);
    const { id, name } = identify('An agent', settings);
    this.id = id;
    this.name = name;
    checkStageSettings(`Agent '${this.id}'`, settings);
    this.toolEntries = [...(settings.tools ?? []), ...builtInTools(settings)];
    const { tools, instructions } = collectFixedTools(`Agent '${this.id}'`, this.toolEntries);
    this.tools = tools;
    this.toolInstructions = instructions;
  }

  get model(): Model {
    this.resolvedModel ??= resolveModel(this.settings.model);
    return this.resolvedModel;
  }

  get limits(): RunLimits | undefined {
    return this.settings.limits;
  }

  /** Made when it is first asked for: the schemas of the tools are needed for it. */
  get fingerprint(): string {
    this.structure ??= fingerprintOf(agentStructure(this));
    return this.structure;
  }

  get eventFields(): JsonObject {
    return { agent_id: this.id, agent_name: this.name };
  }

  get initialState(): JsonObject {
    return this.settings.sessionState ?? {};
  }

  get sessionMetadata(): JsonObject | undefined {
    return this.settings.metadata;
  }

  get introduction(): string | undefined {
    return this.settings.introduction;
  }

  acceptInput(message: string, call?: CallApplication): Promise<string> {
    return checkInput(this.settings.inputSchema, message, call);
  }

  execute(context: RunContext): Promise<RunResult> {
    return executeAgent(this, context);
  }

  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    return continuationOf(run, steps, from);
  }

  metrics(context: RunContext): JsonObject {
    return metricsOf(this.model, context);
  }

  endEvents(end: RunEnd): readonly RunEvent[] {
    return endEvents(end);
  }

  /** Says what `run` and `stream` go through: the service that registers the agent, with its database. */
  attach(runner: () => AgentRunner): void {
    this.runner = runner;
  }

  /** Runs the agent and waits for its end. An agent that no service registers keeps its sessions in memory. */
  run<Schema extends z.ZodType>(
    message: string | JsonObject,
    options: AgentRunOptions & { readonly outputSchema: Schema },
  ): Promise<AgentRunOutput<z.output<Schema>>>;
  run(message: string | JsonObject, options?: AgentRunOptions): Promise<AgentRunOutput>;
  run(message: string | JsonObject, options: AgentRunOptions = {}): Promise<AgentRunOutput> {
    return this.currentRunner().run(this, message, options);
  }

  /**
   * Lets a run go on and waits for its end: one that paused with the answers it waits for, one that failed from where
   * it got to, a completed one as a new run.
   */
  continue(runId: string, options: AgentContinueOptions = {}): Promise<AgentRunOutput> {
    return this.currentRunner().continue(this, runId, options);
  }

  /** Runs the agent and hands out its events as they come; leaving the loop cancels the run. */
  async *stream(
    message: string | JsonObject,
    options: AgentRunOptions = {},
  ): AsyncGenerator<AgentEvent, void, void> {
    yield* this.currentRunner().stream(this, message, options);
  }

  /** Lets go of what its tool sources hold (connections, processes). The agent can be used again. */
  async close(): Promise<void> {
    await Promise.all(toolSourcesOf(this.toolEntries).map((source) => source.close()));
  }

  private currentRunner(): AgentRunner {
    if (this.runner === null)
      throw errors.invalidConfig(`Agent '${this.id}' has nothing to run it. Make it with agent().`);
    return this.runner();
  }
}
