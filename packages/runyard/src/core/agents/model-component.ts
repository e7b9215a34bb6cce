import { deliver, promised, type Receiver } from '../async/receiver.js';
import { Component } from '../components/component.js';
import { componentsOfTools } from '../components/component-tool.js';
import { type CompletedRun, RunOutputError } from '../components/run-output.js';
import type { StartedRun } from '../components/started-run.js';
import { errors } from '../errors/errors.js';
import type { JsonObject } from '../json.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import type { MediaContents } from '../media/media.js';
import type { Model } from '../models/model.js';
import { resolveModel } from '../models/resolve.js';
import type { ObjectKind } from '../options/kind.js';
import type { RunContext } from '../runs/context.js';
import type { Executable } from '../runs/executable.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { ResumeRequest } from '../runs/resume/resume-run.js';
import type { EndedRun, Run, RunOptions, RunResult, StepRecord } from '../runs/run.js';
import type { FittedTo } from '../schemas/schema-types.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import { type CollectedTools, toolSourcesOf } from '../tools/collect-tools.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import type { ToolEntry } from '../tools/toolkit.js';
import { checkStageSettings } from './check-stage-settings.js';
import { ChosenSources } from './context/chosen-sources.js';
import { chooseSettings, dependentSettings } from './context/settings-of-run.js';
import { continuationOf } from './continuation/continuation.js';
import { type AgentContinueOptions, callRequest } from './continuation/continue-in-code.js';
import type { AgentDefinition, AgentSettings } from './definition.js';
import { knowledgeOf } from './knowledge/knowledge-use.js';
import { metricsOf } from './metrics.js';
import {
  type AgentRunOptions,
  agentContinueOptions,
  agentRunOptions,
  agentStartOptions,
  type StartOptions,
} from './run-options.js';
import { type AgentRunFacts, type AgentRunOutput, outputOf } from './run-output.js';

export type CompletedAgentRun<Content> = CompletedRun<Content> & AgentRunFacts;

interface Types<Kind, Settings, Content, Input> {
  readonly kind: Kind;
  readonly settings: Settings;
  readonly input: Input;
  readonly runOptions: AgentRunOptions;
  readonly continueOptions: AgentContinueOptions;
  /** A text also when the answer does not fit the schema: `contentType` is then `str`. */
  readonly output: AgentRunOutput<Content | string>;
  readonly completed: CompletedAgentRun<Content>;
}

/** What a model leads: an agent, or a team, whose leader is one. */
export abstract class ModelComponent<
    Kind extends 'agent' | 'team',
    Settings extends AgentSettings,
    Content,
    Input,
  >
  extends Component<Types<Kind, Settings, Content, Input>>
  implements Omit<AgentDefinition, 'model'>
{
  abstract readonly toolEntries: readonly ToolEntry[];
  protected abstract readonly fixedTools: CollectedTools;
  private resolvedModel: Model | null = null;
  /** What the functions of the settings made of it, for each execution. */
  protected readonly chosenFor = new WeakMap<RunContext, ModelComponent<Kind, Settings, Content, Input>>();
  private readonly chosenSources = new ChosenSources();

  constructor(kind: Kind, settings: Settings, options: ObjectKind) {
    super(kind, settings, {
      settings: options,
      run: agentRunOptions,
      start: agentStartOptions,
      continue: agentContinueOptions,
    });
    checkStageSettings(this.owner, settings);
  }

  /** Null where a function chooses it for each run, and for a member that takes the model of its team. */
  get model(): Model | null {
    const { model } = this.settings;
    if (model !== undefined && typeof model !== 'function') this.resolvedModel ??= resolveModel(model);
    return this.resolvedModel;
  }

  /** A copy with other settings: runs of this one are not touched. */
  abstract with(settings: Partial<Settings>): ModelComponent<Kind, Settings, Content, Input>;

  /** Executes a run for which all settings are known. */
  abstract lead(context: RunContext, receiver: Receiver<RunResult>): void;

  execute(context: RunContext): Promise<RunResult> {
    return promised((receiver) => this.executeFor(context, receiver));
  }

  executeFor(context: RunContext, receiver: Receiver<RunResult>): void {
    if (dependentSettings(this.settings).length === 0) this.lead(context, receiver);
    else deliver(this.leadChosen(context), receiver);
  }

  /** Whether functions of the run are called that may read the claims of the caller. */
  get readsClaims(): boolean {
    const { instructions, knowledgeRetriever, dependencies = {} } = this.settings;
    return (
      dependentSettings(this.settings).length > 0 ||
      [instructions, knowledgeRetriever, ...Object.values(dependencies)].some(
        (value) => typeof value === 'function',
      ) ||
      toolSourcesOf(this.toolEntries).some(({ readsRun }) => readsRun === true) ||
      this.componentTools.some(({ readsClaims }) => readsClaims === true)
    );
  }

  /** Throws when nothing gives it a model. */
  override assertRuns(): void {
    if (this.model === null && typeof this.settings.model !== 'function')
      throw errors.invalidConfig(
        `${this.owner} has no model. Give it one: model: 'openai:gpt-5-mini'. Only a member of a team can do without: it takes the model of the team.`,
      );
  }

  get tools(): ReadonlyMap<string, Tool> {
    return this.fixedTools.tools;
  }

  get toolInstructions(): readonly string[] {
    return this.fixedTools.instructions;
  }

  /** The components that are tools of it. */
  get componentTools() {
    return componentsOfTools(this.tools.values());
  }

  get knowledgeBases(): readonly Knowledge[] {
    const inside = this.componentTools.flatMap(({ knowledgeBases = [] }) => knowledgeBases);
    return [...knowledgeOf(this.settings), ...inside];
  }

  get toolSources(): readonly ToolSource[] {
    const inside = this.componentTools.flatMap(({ toolSources = [] }) => toolSources);
    return [...toolSourcesOf(this.toolEntries), ...inside];
  }

  override get forgets(): RunOptions['forgets'] {
    const { storeToolMessages = true, storeMedia = true } = this.settings;
    if (storeToolMessages && storeMedia) return undefined;
    return { ...(!storeToolMessages && { toolMessages: true }), ...(!storeMedia && { media: true }) };
  }

  get changesInput(): boolean {
    return (this.settings.preHooks?.length ?? 0) > 0;
  }

  get introduction(): string | undefined {
    return this.settings.introduction;
  }

  inside({ kind, componentId }: Run, around: RunContext): Executable | undefined {
    const { componentTools } = this.chosenFor.get(around) ?? this;
    return componentTools.find((component) => component.kind === kind && component.id === componentId);
  }

  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    return continuationOf(run, steps, from);
  }

  /** Those of a team are its leader's: each member has its own. */
  metrics(context: RunContext): JsonObject {
    return metricsOf(this.model, context);
  }

  override run<Schema extends ValueSchema>(
    message: Input,
    options: AgentRunOptions & { readonly outputSchema: Schema },
  ): Promise<AgentRunOutput<FittedTo<Schema> | string>>;
  override run(message: Input, options?: AgentRunOptions): Promise<AgentRunOutput<Content | string>>;
  override run(message: Input, options?: AgentRunOptions): Promise<AgentRunOutput> {
    return super.run(message, options);
  }

  override start<Schema extends ValueSchema>(
    message: Input,
    options: AgentRunOptions & StartOptions & { readonly outputSchema: Schema },
  ): Promise<StartedRun<Kind, AgentRunOutput<FittedTo<Schema> | string>>>;
  override start(
    message: Input,
    options?: AgentRunOptions & StartOptions,
  ): Promise<StartedRun<Kind, AgentRunOutput<Content | string>>>;
  override start(
    message: Input,
    options?: AgentRunOptions & StartOptions,
  ): Promise<StartedRun<Kind, AgentRunOutput>> {
    return super.start(message, options);
  }

  override runOrThrow<Schema extends ValueSchema>(
    message: Input,
    options: AgentRunOptions & { readonly outputSchema: Schema },
  ): Promise<CompletedAgentRun<FittedTo<Schema>>>;
  override runOrThrow(message: Input, options?: AgentRunOptions): Promise<CompletedAgentRun<Content>>;
  override runOrThrow(message: Input, options?: AgentRunOptions): Promise<CompletedAgentRun<unknown>> {
    return super.runOrThrow(message, options);
  }

  override continue(
    runId: string,
    options: AgentContinueOptions = {},
  ): Promise<AgentRunOutput<Content | string>> {
    return super.continue(runId, options);
  }

  async close(): Promise<void> {
    const held = [...toolSourcesOf(this.toolEntries), this.chosenSources, ...this.componentTools];
    await Promise.all(held.map((one) => one.close()));
  }

  /** What its runs are executed with. */
  protected get definition(): AgentDefinition {
    this.assertRuns();
    // its model is known
    return this as this & { readonly model: Model };
  }

  private async leadChosen(context: RunContext): Promise<RunResult> {
    const { chosen, done } = await chooseSettings(this, context, this.chosenSources);
    this.chosenFor.set(context, chosen);
    try {
      return await promised((receiver) => chosen.lead(context, receiver));
    } finally {
      await done();
    }
  }

  protected outputOf(ended: EndedRun, contents: MediaContents): AgentRunOutput<Content | string> {
    // what was stored fits the schema that the types come from
    return outputOf(ended, contents) as AgentRunOutput<Content | string>;
  }

  protected override completed(
    output: AgentRunOutput<Content | string>,
    options?: AgentRunOptions,
  ): CompletedAgentRun<Content> {
    const completed = super.completed(output, options);
    const schema = options?.outputSchema ?? this.settings.outputSchema;
    if (schema !== undefined && completed.contentType === 'str') throw new RunOutputError(completed);
    return completed;
  }

  protected resumeRequest(options: AgentContinueOptions): ResumeRequest {
    return callRequest(options);
  }
}
