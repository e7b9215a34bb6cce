import { textOf } from '../../agents/answer/answer-record.js';
import type { AgentExecution } from '../../agents/execution.js';
import { questionsAtRest } from '../../agents/requirements/questions-at-rest.js';
import { toolKeyOf } from '../../agents/tool-executions.js';
import { Semaphore } from '../../async/concurrency.js';
import { type RunContext, RunPaused } from '../../runs/context.js';
import { runChild } from '../../runs/execution/child-run.js';
import type { ChildOutcome } from '../../runs/journal/records.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { type ToolResult, toolResult } from '../../tools/tool-result.js';
import type { TeamMember, TeamSettings } from '../settings.js';
import { type MemberEvents, withMemberEvents } from './member-events.js';
import { memberInput } from './member-input.js';

/** What one member is asked. */
export interface MemberQuestion {
  /** The key of the step that the member's run is the work of. */
  readonly key: string;
  readonly member: TeamMember;
  readonly task: string;
}

/** How members are asked in one execution of a team's run: within its bounds, and none twice. */
export class Delegations {
  private readonly parallel: Semaphore;
  /** The steps of members that have begun, or that this execution is about to begin. */
  private readonly reserved: Set<string>;

  constructor(
    private readonly execution: AgentExecution,
    private readonly settings: TeamSettings,
    private readonly eventsFor: (key: string) => MemberEvents,
  ) {
    this.reserved = new Set(execution.context.steps('member').map(({ key }) => key));
    this.parallel = new Semaphore(settings.maxParallelMembers ?? Number.POSITIVE_INFINITY);
  }

  /** Refuses what would be more than the run may ask. */
  reserve(keys: readonly string[]): void {
    const { maxDelegations } = this.settings;
    const { size } = this.reserved;
    const wanted = keys.filter((key) => !this.reserved.has(key));
    if (maxDelegations !== undefined && size + wanted.length > maxDelegations)
      throw new ToolRefused(
        `Not done: in this run members can be asked ${maxDelegations} times, and ${size} of these are used. Answer with what you have.`,
      );
    for (const key of wanted) this.reserved.add(key);
  }

  /** Asks one member. It is not asked again what it has answered before, nor while it waits for a person. */
  async ask({ key, member, task }: MemberQuestion): Promise<ChildOutcome> {
    const { context } = this.execution;
    const resting = questionsAtRest(context, key);
    if (resting !== undefined) throw new RunPaused(resting);
    return this.parallel.run(async () => {
      const begun = context.recorded(key) !== undefined;
      if (!begun) context.replay?.stop();
      const input = begun
        ? context.run.input
        : await memberInput(this.execution, this.settings, member, task);
      return runChild(withMemberEvents(context, this.eventsFor(key)), {
        key,
        kind: 'member',
        parentKey: toolKeyOf(key),
        executable: member,
        input,
        fields: fieldsOf(context),
        depth: context.origin.depth + 1,
      });
    });
  }
}

/** What the run is a part of, its members are too. */
function fieldsOf({ origin, run }: RunContext) {
  const { team_id: _id, team_name: _name, ...around } = origin.fields;
  return { ...around, parent_run_id: run.runId };
}

/** What the leader reads about a member's result: its answer, or why it has none. */
export function outcomeText({ result }: ChildOutcome): string {
  return textOf(result.content);
}

/** The same, with what the members made beside it. */
export function outcomeResult(text: string, outcomes: readonly ChildOutcome[]): string | ToolResult {
  const media = outcomes.flatMap(({ result }) => result.media ?? []);
  return media.length === 0 ? text : toolResult(text, { media });
}
