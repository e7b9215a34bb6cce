import type { z } from 'zod';
import { agentStructure } from '../agents/agent-structure.js';
import type { Answer } from '../agents/answer/answer-record.js';
import { endingOfCall, withoutPlaces } from '../agents/answer/ending.js';
import { checkStageSettings } from '../agents/check-stage-settings.js';
import { continuationOf } from '../agents/continuation/continuation.js';
import type { AgentContinueOptions } from '../agents/continuation/continue-in-code.js';
import type { AgentDefinition } from '../agents/definition.js';
import { executeAgent } from '../agents/execute-agent.js';
import type { AgentExecution } from '../agents/execution.js';
import { checkInput } from '../agents/hooks/input-schema.js';
import type { ModelRecord } from '../agents/journal-records.js';
import { metricsOf } from '../agents/metrics.js';
import type { AgentRunOptions } from '../agents/run-options.js';
import type { AgentRunner, AgentRunOutput } from '../agents/runner.js';
import { builtInTools } from '../agents/turns/built-in/built-in-tools.js';
import { identify } from '../component-id.js';
import { errors } from '../errors/errors.js';
import type { RunEvent, TeamEvent } from '../events/run-event.js';
import { fingerprintOf } from '../fingerprint.js';
import type { JsonObject } from '../json.js';
import type { Model } from '../models/model.js';
import { resolveModel } from '../models/resolve.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import { type RunContext, RunPaused } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { RunLimits } from '../runs/limits/run-limits.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, RunResult, StepRecord } from '../runs/run.js';
import { collectFixedTools, toolSourcesOf } from '../tools/collect-tools.js';
import type { Tool } from '../tools/tool.js';
import type { ToolEntry } from '../tools/toolkit.js';
import { checkTeam } from './check-team.js';
import { withLateEntry } from './late-entry.js';
import { Delegations } from './members/ask-members.js';
import { unheard } from './members/unheard.js';
import { routeContinues, routedAnswer, routeVoices } from './routed-answer.js';
import { defaultIterations, type TeamMember, type TeamMode, type TeamSettings } from './settings.js';
import { beginIterations, nextIteration } from './tasks/iterations.js';
import { tasksOf } from './tasks/task-list.js';
import { teamEndEvents, teamEventPrefix } from './team-events.js';
import { teamOptions } from './team-options.js';
import { leaderKit } from './tools/leader-kit.js';

/**
 * A team: a leader, which is an agent, and members who work for it. What a member does is part of the team's run. Made
 * with `team()`, registered with `Runyard`, or run as it is.
 */
export class Team implements TeamMember, Executable, AgentDefinition {
  readonly kind = 'team';
  readonly eventPrefix = teamEventPrefix;
  readonly id: string;
  readonly name: string;
  readonly mode: TeamMode;
  readonly members: readonly TeamMember[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolInstructions: readonly string[];
  readonly toolEntries: readonly ToolEntry[];
  private runner: (() => AgentRunner) | null = null;
  private resolvedModel: Model | null = null;
  private structure: string | undefined;
  private readonly delegations = new WeakMap<AgentExecution, Delegations>();

  constructor(readonly settings: TeamSettings) {
    checkOptions(ownerOf('Team', settings), settings, teamOptions);
    const { id, name } = identify('A team', settings);
    this.id = id;
    this.name = name;
    this.mode = settings.mode ?? 'coordinate';
    this.members = [...settings.members];
    checkStageSettings(`Team '${id}'`, settings);
    this.toolEntries = [leaderKit(this), ...(settings.tools ?? []), ...builtInTools(settings)];
    const { tools, instructions } = collectFixedTools(`Team '${id}'`, this.toolEntries);
    this.tools = tools;
    this.toolInstructions = instructions;
    checkTeam(id, settings, tools);
  }

  get model(): Model {
    this.resolvedModel ??= resolveModel(this.settings.model);
    return this.resolvedModel;
  }

  get limits(): RunLimits | undefined {
    return this.settings.limits;
  }

  /** Made when it is first asked for. */
  get fingerprint(): string {
    const members = () => this.members.map(({ kind, id, fingerprint }) => [kind, id, fingerprint ?? null]);
    this.structure ??= fingerprintOf([this.mode, agentStructure(this), members()]);
    return this.structure;
  }

  get eventFields(): JsonObject {
    return { team_id: this.id, team_name: this.name };
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

  async execute(context: RunContext): Promise<RunResult> {
    const leader = withLateEntry(context, () => {
      if (this.mode === 'tasks') beginIterations(context, this.maxIterations);
    });
    try {
      return await executeAgent(this, leader.context);
    } catch (error) {
      if (error instanceof RunPaused) leader.release();
      throw error;
    }
  }

  async continuesAfter(context: RunContext, turn: number): Promise<boolean> {
    if (this.mode === 'route') return routeContinues(context, turn);
    return this.mode === 'tasks' && nextIteration(context, turn, this.maxIterations);
  }

  answer(context: RunContext, last: ModelRecord): Answer | undefined {
    if (this.mode === 'route') return routedAnswer(context, this.settings, last);
    if (this.mode !== 'tasks' || last.content.trim() !== '') return undefined;
    const { completionSummary } = tasksOf(context);
    return completionSummary === null
      ? undefined
      : {
          content: completionSummary,
          contentType: 'str',
          said: completionSummary,
          ending: withoutPlaces(endingOfCall(last)),
        };
  }

  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    return continuationOf(run, steps, from);
  }

  /** Those of the leader: each member's are its own. */
  metrics(context: RunContext): JsonObject {
    return metricsOf(this.model, context);
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return teamEndEvents(end, context);
  }

  inside({ componentId }: Run): Executable | undefined {
    const member = this.members.find(({ id }) => id === componentId);
    return member !== undefined && this.settings.streamMemberEvents === false ? unheard(member) : member;
  }

  /** How members are asked in one execution of a run. */
  delegationsOf(execution: AgentExecution): Delegations {
    let delegations = this.delegations.get(execution);
    if (delegations === undefined) {
      const heard = this.settings.streamMemberEvents ?? true;
      delegations = new Delegations(execution, this.settings, (key) =>
        this.mode === 'route' ? routeVoices(execution.context, this.settings, key) : { heard },
      );
      this.delegations.set(execution, delegations);
    }
    return delegations;
  }

  /** Says what `run` and `stream` go through: the service that registers the team, with its database. */
  attach(runner: () => AgentRunner): void {
    this.runner = runner;
  }

  /** Runs the team and waits for its end. A team that no service registers keeps its sessions in memory. */
  run<Schema extends z.ZodType>(
    message: string | JsonObject,
    options: AgentRunOptions & { readonly outputSchema: Schema },
  ): Promise<AgentRunOutput<z.output<Schema>>>;
  run(message: string | JsonObject, options?: AgentRunOptions): Promise<AgentRunOutput>;
  run(message: string | JsonObject, options: AgentRunOptions = {}): Promise<AgentRunOutput> {
    return this.currentRunner().run(this, message, options);
  }

  /**
   * Lets a run go on and waits for its end: one that paused with the answers that the team or its members wait for,
   * one that failed from where it got to, a completed one as a new run.
   */
  continue(runId: string, options: AgentContinueOptions = {}): Promise<AgentRunOutput> {
    return this.currentRunner().continue(this, runId, options);
  }

  /** Runs the team and hands out its events and those of its members as they come; leaving the loop cancels the run. */
  async *stream(
    message: string | JsonObject,
    options: AgentRunOptions = {},
  ): AsyncGenerator<TeamEvent, void, void> {
    yield* this.currentRunner().stream(this, message, options);
  }

  /** Lets go of what its tool sources and its members hold (connections, processes). The team can be used again. */
  async close(): Promise<void> {
    const sources = toolSourcesOf(this.toolEntries).map((source) => source.close());
    await Promise.all([...sources, ...this.members.map((member) => member.close())]);
  }

  private get maxIterations(): number {
    return this.settings.maxIterations ?? defaultIterations;
  }

  private currentRunner(): AgentRunner {
    if (this.runner === null)
      throw errors.invalidConfig(`Team '${this.id}' has nothing to run it. Make it with team().`);
    return this.runner();
  }
}
