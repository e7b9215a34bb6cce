import { checkInput } from '../agents/hooks/input-schema.js';
import type { AgentRunner } from '../agents/runner.js';
import { identify } from '../component-id.js';
import { standIn } from '../components/stand-in.js';
import { errors } from '../errors/errors.js';
import type { RunEvent, WorkflowEvent } from '../events/run-event.js';
import { fingerprintOf } from '../fingerprint.js';
import type { JsonObject } from '../json.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { WorkflowLimits } from '../runs/limits/run-limits.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import { definitionChanged } from '../runs/resume/replay.js';
import type { Run, RunResult, StepRecord } from '../runs/run.js';
import { ChatAgent } from './chat-agent.js';
import { stepRequest, type WorkflowContinueOptions } from './continue-in-code.js';
import { nodesFrom } from './definition/builders.js';
import { checkTree } from './definition/check-tree.js';
import type { WorkflowFunction } from './definition/functions.js';
import { nodesInside, type WorkflowNode } from './definition/node.js';
import { fingerprintOfComponent, structureOf } from './definition/node-identity.js';
import { endEvents } from './end-events.js';
import { executeWorkflow, type WorkflowDefinition } from './execution/execute-workflow.js';
import { metricsOf } from './fold/metrics.js';
import { outputOf, type WorkflowRunOptions, type WorkflowRunOutput } from './run-in-code.js';
import { type WorkflowSettings, workflowContinueOptions, workflowOptions } from './workflow-options.js';

/** A workflow: steps, groups of them, and what ties them together. Made with `workflow()`. */
export class Workflow implements Executable, WorkflowDefinition {
  readonly kind = 'workflow';
  readonly model = null;
  readonly id: string;
  readonly name: string;
  readonly nodes: readonly WorkflowNode[];
  readonly whole: WorkflowFunction | undefined;
  readonly chat: ChatAgent | undefined;
  /** What may run inside of its runs, by kind and id. */
  private readonly components = new Map<string, Executable>();
  private runner: (() => AgentRunner) | null = null;
  private structure: string | undefined;

  constructor(readonly settings: WorkflowSettings) {
    checkOptions(ownerOf('Workflow', settings), settings, workflowOptions);
    const { id, name } = identify('A workflow', settings);
    this.id = id;
    this.name = name;
    const owner = `Workflow '${id}'`;
    const { steps, agent, description } = settings;
    this.whole = typeof steps === 'function' ? steps : undefined;
    this.nodes = typeof steps === 'function' ? [] : nodesFrom(owner, steps);
    checkTree(id, this.nodes);
    this.chat = agent && new ChatAgent(agent, { name, ...(description !== undefined && { description }) });
    for (const component of componentsIn(this.nodes)) this.register(component);
    if (this.chat !== undefined) this.register(this.chat);
  }

  get limits(): WorkflowLimits | undefined {
    return this.settings.limits;
  }

  /** Made once: a workflow does not change while it is registered. */
  get fingerprint(): string {
    this.structure ??= fingerprintOf([
      this.chat === undefined ? null : fingerprintOfComponent(this.chat),
      this.whole === undefined ? structureOf(this.nodes) : 'a function',
      this.addHistoryToSteps,
    ]);
    return this.structure;
  }

  get eventFields(): JsonObject {
    return { workflow_id: this.id, workflow_name: this.name };
  }

  get initialState(): JsonObject {
    return this.settings.sessionState ?? {};
  }

  get sessionMetadata(): JsonObject | undefined {
    return this.settings.metadata;
  }

  get hasInputSchema(): boolean {
    return this.settings.inputSchema !== undefined;
  }

  get addHistoryToSteps(): boolean {
    return this.settings.addHistoryToSteps ?? false;
  }

  get numHistoryRuns(): number {
    return this.settings.numHistoryRuns ?? 3;
  }

  get maxParallel(): number {
    return this.settings.maxParallel ?? 10;
  }

  register(component: Executable): void {
    this.components.set(`${component.kind} ${component.id}`, component);
  }

  acceptInput(message: string, call?: CallApplication): Promise<string> {
    return checkInput(this.settings.inputSchema, message, call);
  }

  execute(context: RunContext): Promise<RunResult> {
    return executeWorkflow(this, context);
  }

  /** A run that the code no longer fitted continues as it is once it does; any other continues only where it paused. */
  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation | undefined {
    const isUnfit = run.status === 'error' && run.result?.error?.type === definitionChanged;
    return isUnfit && from === 'end' ? { steps, messageIndex: 0, turn: 0 } : undefined;
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return endEvents(end, context, this.chat !== undefined);
  }

  metrics(context: RunContext): JsonObject {
    return metricsOf(context.run, context.steps(), context.timers.now());
  }

  inside(run: Run): Executable | undefined {
    const known = this.components.get(`${run.kind} ${run.componentId}`);
    return known ?? (this.whole === undefined ? undefined : standIn(run));
  }

  /** Says what `run`, `stream` and `continue` go through: the service that registers the workflow. */
  attach(runner: () => AgentRunner): void {
    this.runner = runner;
  }

  /** Runs the workflow and waits for its end, or until it waits for somebody. */
  async run(input: string | JsonObject, options: WorkflowRunOptions = {}): Promise<WorkflowRunOutput> {
    const runner = this.currentRunner();
    const handle = await runner.start(this, input, options, false);
    return outputOf(await handle.ended, await runner.media());
  }

  /** Runs the workflow and hands out its events as they come; leaving the loop cancels the run. */
  async *stream(
    input: string | JsonObject,
    options: WorkflowRunOptions = {},
  ): AsyncGenerator<WorkflowEvent, void, void> {
    yield* this.currentRunner().stream(this, input, options);
  }

  /** Continues a paused run with the answers that it waits for, and waits for its end. */
  async continue(runId: string, options: WorkflowContinueOptions): Promise<WorkflowRunOutput> {
    checkOptions('workflow.continue()', options, workflowContinueOptions);
    const runner = this.currentRunner();
    const ended = await runner.resume(this, runId, stepRequest(options), options.signal);
    return outputOf(ended, await runner.media());
  }

  /** Lets go of what the tools of its agents hold. The workflow can be used again. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.components.values(), closed));
    await this.settings.agent?.close();
  }

  private currentRunner(): AgentRunner {
    if (this.runner === null)
      throw errors.invalidConfig(`Workflow '${this.id}' has nothing to run it. Make it with workflow().`);
    return this.runner();
  }
}

function closed(component: Executable & { close?(): Promise<void> }): Promise<void> | undefined {
  return component.close?.();
}

/** The agents, teams and workflows that execute steps, each once. */
function componentsIn(nodes: readonly WorkflowNode[]): Executable[] {
  const found = nodes.flatMap((node) =>
    node.type === 'Step'
      ? 'component' in node.run
        ? [node.run.component]
        : []
      : componentsIn(nodesInside(node)),
  );
  return [...new Set(found)];
}
