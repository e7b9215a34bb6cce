import type { AgentExecution } from '../../agents/execution.js';
import { memberKeyOf } from '../../agents/tool-executions.js';
import { executionOf, stepKeyOf } from '../../agents/turns/built-in/execution-of-call.js';
import type { RunContext } from '../../runs/context.js';
import type { ToolContext } from '../../tools/tool-context.js';
import type { Delegations } from '../members/ask-members.js';
import type { TeamMember, TeamSettings } from '../settings.js';

/** What the tools of a leader know of their team. */
export interface LeadersTeam {
  readonly settings: TeamSettings;
  readonly members: readonly TeamMember[];
  delegationsOf(execution: AgentExecution): Delegations;
}

/** The place of a leader's call in the run. */
export interface LeaderCall {
  readonly context: RunContext;
  readonly delegations: Delegations;
  /** The key of the call's own step. */
  readonly stepKey: string;
  /** The key of the step under which the call runs a member. */
  readonly memberKey: string;
}

export function leaderCallOf(team: LeadersTeam, site: ToolContext): LeaderCall {
  const execution = executionOf(site);
  const stepKey = stepKeyOf(site);
  return {
    context: execution.context,
    delegations: team.delegationsOf(execution),
    stepKey,
    memberKey: memberKeyOf(stepKey),
  };
}
