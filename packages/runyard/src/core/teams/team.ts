import { agentStructure } from '../agents/agent-structure.js';
import type { Answer } from '../agents/answer/answer-record.js';
import { endingOfCall, withoutPlaces } from '../agents/answer/ending.js';
import { executeAgent } from '../agents/execute-agent.js';
import type { AgentExecution } from '../agents/execution.js';
import type { ModelRecord } from '../agents/journal-records.js';
import { ModelComponent } from '../agents/model-component.js';
import { builtInTools } from '../agents/turns/built-in/built-in-tools.js';
import { deliver, promised, type Receiver } from '../async/receiver.js';
import type { RunEvent } from '../events/run-event.js';
import type { Json, JsonObject } from '../json.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import type { ObjectKind } from '../options/kind.js';
import { type RunContext, RunPaused } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { Run, RunResult } from '../runs/run.js';
import { collectFixedTools, namedTools } from '../tools/collect-tools.js';
import type { ToolSource } from '../tools/tool-source.js';
import { checkTeam } from './check-team.js';
import { withLateEntry } from './late-entry.js';
import { Delegations } from './members/ask-members.js';
import { withModelOf } from './members/inherited-model.js';
import { unheard } from './members/unheard.js';
import { routeContinues, routedAnswer, routedEvents } from './routed-answer.js';
import { defaultIterations, type TeamMember, type TeamMode, type TeamSettings } from './settings.js';
import { beginIterations, nextIteration } from './tasks/iterations.js';
import { tasksOf } from './tasks/task-list.js';
import { teamEndEvents } from './team-events.js';
import { teamOptions } from './team-options.js';
import { leaderKit } from './tools/leader-kit.js';

/**
 * A team: a leader, which is an agent, and members who work for it. What a member does is part of the team's run. Made
 * with `team()`, registered with `Runyard`, or run as it is.
 */
export class Team<Content = unknown, Input = string | JsonObject>
  extends ModelComponent<'team', TeamSettings, Content, Input>
  implements TeamMember
{
  readonly kind = 'team';
  readonly mode: TeamMode = this.settings.mode ?? 'coordinate';
  /** Those without a model take that of the team. */
  readonly members: readonly TeamMember[] = withModelOf(this.settings);
  readonly toolEntries = [
    leaderKit(this),
    ...namedTools(this.settings.tools),
    ...builtInTools(this.settings),
  ];
  protected readonly fixedTools = collectFixedTools(this.owner, this.toolEntries);
  private readonly delegations = new WeakMap<AgentExecution, Delegations>();

  constructor(settings: TeamSettings, options: ObjectKind = teamOptions) {
    super('team', settings, options);
    checkTeam(this.id, settings, this.tools);
  }

  with(settings: Partial<TeamSettings>): Team<Content, Input> {
    const copy = new Team<Content, Input>({ ...this.settings, ...settings });
    // a run of a copy continues with the same configurations, too
    copy.origin = this.origin;
    return copy;
  }

  lead(context: RunContext, receiver: Receiver<RunResult>): void {
    deliver(this.leadMembers(context), receiver);
  }

  private async leadMembers(context: RunContext): Promise<RunResult> {
    const leader = withLateEntry(context, () => {
      if (this.mode === 'tasks') beginIterations(context, this.maxIterations);
    });
    try {
      return await promised((receiver) => executeAgent(this.definition, leader.context, receiver));
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

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return teamEndEvents(end, context);
  }

  override inside(run: Run, around: RunContext): Executable | undefined {
    const chosen = this.chosenFor.get(around);
    const { members } = chosen instanceof Team ? chosen : this;
    const member = members.find(({ id, kind }) => id === run.componentId && kind === run.kind);
    if (member === undefined) return super.inside(run, around);
    return this.settings.streamMemberEvents === false ? unheard(member) : member;
  }

  override get readsClaims(): boolean {
    return super.readsClaims || this.members.some(({ readsClaims }) => readsClaims === true);
  }

  override get knowledgeBases(): readonly Knowledge[] {
    return [...super.knowledgeBases, ...this.members.flatMap(({ knowledgeBases = [] }) => knowledgeBases)];
  }

  override get toolSources(): readonly ToolSource[] {
    return [...super.toolSources, ...this.members.flatMap(({ toolSources = [] }) => toolSources)];
  }

  /** How members are asked in one execution of a run. */
  delegationsOf(execution: AgentExecution): Delegations {
    let delegations = this.delegations.get(execution);
    if (delegations === undefined) {
      const sent = this.settings.streamMemberEvents ?? true;
      delegations = new Delegations(execution, this.settings, (key) =>
        this.mode === 'route' ? routedEvents(execution.context, this.settings, key) : { sent },
      );
      this.delegations.set(execution, delegations);
    }
    return delegations;
  }

  /** Its members let go of what they hold, too. */
  override async close(): Promise<void> {
    await Promise.all([super.close(), ...this.members.map((member) => member.close())]);
  }

  protected structure(): Json {
    const members = this.members.map(({ kind, id, fingerprint }) => [kind, id, fingerprint ?? null]);
    return [this.mode, agentStructure(this), members];
  }

  private get maxIterations(): number {
    return this.settings.maxIterations ?? defaultIterations;
  }
}

/** A team with whatever content and input. */
export type AnyTeam = Team<unknown, never>;
