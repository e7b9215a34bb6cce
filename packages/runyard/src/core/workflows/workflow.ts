import { workflowRunOptions, workflowStartOptions } from '../agents/run-options.js';
import { Component } from '../components/component.js';
import { standIn } from '../components/stand-in.js';
import type { RunEvent } from '../events/run-event.js';
import type { Json, JsonObject } from '../json.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import type { MediaContents } from '../media/media.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import { isUnfit } from '../runs/resume/replay.js';
import type { ResumeRequest } from '../runs/resume/resume-run.js';
import type { EndedRun, Run, RunResult, StepRecord } from '../runs/run.js';
import type { ToolSource } from '../tools/tool-source.js';
import { ChatAgent } from './chat-agent.js';
import { restartAt } from './continuation/restart.js';
import { retryFailed } from './continuation/retry-failed.js';
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
import { type EventReceipt, type SendEventOptions, sendEventTo } from './send-event.js';
import { type WorkflowSettings, workflowContinueOptions, workflowOptions } from './workflow-options.js';

interface WorkflowTypes<Content, Input> {
  readonly kind: 'workflow';
  readonly settings: WorkflowSettings;
  readonly input: Input;
  readonly runOptions: WorkflowRunOptions;
  readonly continueOptions: WorkflowContinueOptions;
  readonly output: WorkflowRunOutput<Content>;
  readonly completed: Extract<WorkflowRunOutput<Content>, { readonly status: 'completed' }>;
}

/** A workflow: steps, groups of them, and what ties them together. Made with `workflow()`. */
export class Workflow<Content = unknown, Input = string | JsonObject>
  extends Component<WorkflowTypes<Content, Input>>
  implements WorkflowDefinition
{
  readonly kind = 'workflow';
  readonly model = null;
  readonly nodes: readonly WorkflowNode[];
  readonly whole: WorkflowFunction | undefined;
  readonly chat: ChatAgent | undefined;
  /** What may run inside its runs, by kind and id. */
  private readonly components = new Map<string, Executable>();

  constructor(settings: WorkflowSettings) {
    super('workflow', settings, {
      settings: workflowOptions,
      run: workflowRunOptions,
      start: workflowStartOptions,
      continue: workflowContinueOptions,
    });
    const { name, owner } = this;
    const { steps, agent, description } = settings;
    this.whole = typeof steps === 'function' ? steps : undefined;
    this.nodes = typeof steps === 'function' ? [] : nodesFrom(owner, steps);
    checkTree(this.id, this.nodes);
    this.chat = agent && new ChatAgent(agent, { name, ...(description !== undefined && { description }) });
    for (const component of componentsIn(this.nodes)) this.register(component);
    if (this.chat !== undefined) this.register(this.chat);
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

  get knowledgeBases(): readonly Knowledge[] {
    return Array.from(this.components.values(), ({ knowledgeBases = [] }) => knowledgeBases).flat();
  }

  get toolSources(): readonly ToolSource[] {
    const inside = Array.from(this.components.values(), ({ toolSources = [] }) => toolSources).flat();
    return [...inside, ...(this.settings.agent?.toolSources ?? [])];
  }

  /** What a function does with them, or what the function of a step will run, is not known before. */
  get readsClaims(): boolean {
    const known = Array.from(this.components.values());
    return (
      typeof this.settings.limits === 'function' ||
      this.whole !== undefined ||
      hasFunctions(this.nodes) ||
      known.some(({ readsClaims }) => readsClaims === true)
    );
  }

  register(component: Executable): void {
    this.components.set(`${component.kind} ${component.id}`, component);
  }

  execute(context: RunContext): Promise<RunResult> {
    return executeWorkflow(this, context);
  }

  /** A failed run continues with the step that failed; one that the code no longer fitted as it is, once the code does. */
  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation | undefined {
    if (typeof from === 'object') return restartAt(run, steps, from.step);
    if (run.status !== 'error' || from !== 'end') return undefined;
    if (isUnfit(run)) return { steps, messageIndex: 0, turn: 0 };
    return retryFailed(run, steps, (inner) => this.inside(inner));
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return endEvents(end, context, this.chat !== undefined);
  }

  metrics(context: RunContext): JsonObject {
    return metricsOf(context.run, context.steps(), context.timers.now());
  }

  inside(run: Run): Executable {
    // a function may have run it in another process
    return this.components.get(`${run.kind} ${run.componentId}`) ?? standIn(run);
  }

  override continue(
    runId: string,
    options: WorkflowContinueOptions = {},
  ): Promise<WorkflowRunOutput<Content>> {
    return super.continue(runId, options);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.components.values(), closed));
    await this.settings.agent?.close();
  }

  /**
   * Sends an event to a run that has not ended: a function that waits for it, or will, gets its data. Data that does
   * not fit what the run waits for is refused.
   */
  async sendEvent(
    runId: string,
    name: string,
    data: Json = null,
    options: SendEventOptions = {},
  ): Promise<EventReceipt> {
    return sendEventTo(await this.open(), this.id, runId, { name, data, options });
  }

  protected structure(): Json {
    return [
      this.chat === undefined ? null : fingerprintOfComponent(this.chat),
      this.whole === undefined ? structureOf(this.nodes) : 'a function',
      this.addHistoryToSteps,
    ];
  }

  protected outputOf(ended: EndedRun, contents: MediaContents): WorkflowRunOutput<Content> {
    // the types come from the last step, which made what was stored
    return outputOf(ended, contents) as WorkflowRunOutput<Content>;
  }

  protected resumeRequest(options: WorkflowContinueOptions): ResumeRequest {
    return stepRequest(options);
  }
}

/** A workflow with whatever content and input. */
export type AnyWorkflow = Workflow<unknown, never>;

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

function hasFunctions(nodes: readonly WorkflowNode[]): boolean {
  return nodes.some((node) =>
    node.type === 'Step' ? 'function' in node.run : hasFunctions(nodesInside(node)),
  );
}
