import { Agent, type AnyAgent } from '../agents/agent.js';
import { anyOf, instanceOf } from '../options/kinds.js';
import { type AnyTeam, Team } from '../teams/team.js';
import { type AnyWorkflow, Workflow } from '../workflows/workflow.js';
import { AgentFactory } from './agent-factory.js';
import { TeamFactory } from './team-factory.js';
import { WorkflowFactory } from './workflow-factory.js';

/** An agent that stands ready, or what builds one for each run: the input of a factory is checked when a run begins. */
export type RegisteredAgent = AnyAgent | AgentFactory<never>;
export type RegisteredTeam = AnyTeam | TeamFactory<never>;
export type RegisteredWorkflow = AnyWorkflow | WorkflowFactory<never>;

export const registeredAgent = anyOf(
  instanceOf(Agent, 'an agent'),
  instanceOf(AgentFactory, 'an agent factory'),
);
export const registeredTeam = anyOf(instanceOf(Team, 'a team'), instanceOf(TeamFactory, 'a team factory'));
export const registeredWorkflow = anyOf(
  instanceOf(Workflow, 'a workflow'),
  instanceOf(WorkflowFactory, 'a workflow factory'),
);
