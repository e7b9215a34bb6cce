import { Agent } from '../agents/agent.js';
import { checkInput } from '../agents/hooks/input-schema.js';
import type { AgentRunner, StreamedEvent } from '../agents/runner.js';
import { identify } from '../component-id.js';
import { standIn } from '../components/stand-in.js';
import { errors } from '../errors.js';
import { fingerprintOf } from '../fingerprint.js';
import type { JsonObject } from '../json.js';
import type { CallApplication } from '../runs/code-owner.js';
import type { RunContext } from '../runs/context.js';
import type { Continuation, ContinueFrom } from '../runs/continuation.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import { checkLimits, type WorkflowLimits } from '../runs/limits/run-limits.js';
import type { RunEvent } from '../runs/logged-event.js';
import { definitionChanged } from '../runs/replay.js';
import type { Run, RunResult, StepRecord } from '../runs/run.js';
import type { ValueSchema } from '../value-schema.js';
import { ChatAgent } from './chat-agent.js';
import { continueWorkflow, type WorkflowContinueOptions } from './continue-in-code.js';
import { nodesFrom } from './definition/builders.js';
import { checkCount } from './definition/check-settings.js';
import { checkTree } from './definition/check-tree.js';
import type { WorkflowFunction } from './definition/functions.js';
import { nodesInside, type StepEntry, type WorkflowNode } from './definition/node.js';
import { fingerprintOfComponent, structureOf } from './definition/node-identity.js';
import { endEvents } from './end-events.js';
import { executeWorkflow, type WorkflowDefinition } from './execution/execute-workflow.js';
import { metricsOf } from './fold/metrics.js';
import { outputOf, type WorkflowRunOptions, type WorkflowRunOutput } from './run-in-code.js';

/** How a workflow is defined. */
export interface WorkflowSettings {
  /** The identifier in URLs; made from the name when left out. */
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  /** What is done, in order; or one function that does it all. */
  readonly steps: readonly StepEntry[] | WorkflowFunction;
  /** What the input has to be: an object that fits a zod or JSON schema. Left out: any text. */
  readonly inputSchema?: ValueSchema;
  /** What the state of a new session begins with. */
  readonly sessionState?: JsonObject;
  /** Shows each step the inputs and outputs of earlier runs of the session. */
  readonly addHistoryToSteps?: boolean;
  /** How many of them. Default 3. */
  readonly numHistoryRuns?: number;
  /** An agent in front: it answers itself, or lets the workflow run. */
  readonly agent?: Agent;
  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
  readonly metadata?: JsonObject;
  /** How many branches of a parallel group run at once. Default 10. */
  readonly maxParallel?: number;
  /** How much a run may do before it ends with the error `limit_exceeded`: `{ steps: 500, cost: 20 }`. */
  readonly limits?: WorkflowLimits;
}

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
    const { id, name } = identify('A workflow', settings);
    this.id = id;
    this.name = name;
    const owner = `Workflow '${id}'`;
    checkCount(owner, 'numHistoryRuns', settings.numHistoryRuns, 1);
    checkCount(owner, 'maxParallel', settings.maxParallel, 1);
    checkLimits(owner, this.kind, settings.limits);
    const { steps, agent, description } = settings;
    this.whole = typeof steps === 'function' ? steps : undefined;
    this.nodes = typeof steps === 'function' ? [] : nodesFrom(owner, steps);
    checkTree(id, this.nodes);
    if (agent !== undefined && !(agent instanceof Agent))
      throw errors.invalidConfig(`${owner} has an 'agent' that is none. Make it with agent().`);
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

  /** A run that the code no longer fitted is continued as it is once it does; any other runs on only where it paused. */
  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    if (run.status !== 'error' || run.result?.error?.type !== definitionChanged || from !== 'end')
      throw errors.cannotContinue(
        run.runId,
        run.status,
        run.status === 'error' ? 'has errored' : `is already ${run.status}`,
      );
    return { steps, messageIndex: 0, turn: 0 };
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
    const handle = await this.currentRunner().start(this, input, startOptions(options), false);
    return outputOf(await handle.ended);
  }

  /** Runs the workflow and hands out its events as they come; leaving the loop cancels the run. */
  async *stream(
    input: string | JsonObject,
    options: WorkflowRunOptions = {},
  ): AsyncGenerator<StreamedEvent, void, void> {
    yield* this.currentRunner().stream(this, input, startOptions(options));
  }

  /** Answers what a paused run waits for, lets it go on, and waits for its end. */
  async continue(runId: string, options: WorkflowContinueOptions): Promise<WorkflowRunOutput> {
    const ended = await this.currentRunner().goOn(this, runId, options.signal, ({ engine, journal }) =>
      continueWorkflow(engine, journal, this, runId, options),
    );
    return outputOf(ended);
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

function startOptions({ additionalData, ...options }: WorkflowRunOptions) {
  return additionalData === undefined ? options : { ...options, extra: { additional_data: additionalData } };
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
