import type { OfRun } from '../agents/context/run-values.js';
import type { AgentDefinition, AgentSettings } from '../agents/definition.js';
import type { Model } from '../models/model.js';
import type { ModelLike } from '../models/resolve.js';
import type { Executable } from '../runs/executable.js';
import type { ValueSchema } from '../schemas/value-schema.js';

/**
 * How a team works. `coordinate`: the leader asks members and writes the answer. `route`: the leader chooses a member,
 * whose answer is the team's. `broadcast`: all members work on the same, the leader writes the answer. `tasks`: the
 * leader keeps a list of tasks and has members work on it until it is done.
 */
export const teamModes = ['coordinate', 'route', 'broadcast', 'tasks'] as const;

export type TeamMode = (typeof teamModes)[number];

/** Who can be a member: an agent, or another team. */
export interface TeamMember extends Executable, Omit<AgentDefinition, 'model'> {
  readonly kind: 'agent' | 'team';
  readonly id: string;
  readonly name: string;
  /** Null for one that takes the model of its team. */
  readonly model: Model | null;
  /** Those of a team. */
  readonly members?: readonly TeamMember[];
  /** The same member with other settings. */
  with(settings: { readonly model: ModelLike }): TeamMember;
  close(): Promise<void>;
}

/** How a team is defined: as an agent, which is its leader, and with members. */
export interface TeamSettings<
  Output extends ValueSchema = ValueSchema,
  Input extends ValueSchema = ValueSchema,
  Mode extends TeamMode = TeamMode,
> extends AgentSettings<Output, Input> {
  /** Agents and teams; or a function that returns them for a run. */
  readonly members: OfRun<readonly TeamMember[]>;
  /** Default `coordinate`. */
  readonly mode?: Mode;

  // what members are given
  /** The leader writes what each member is to do (the default); without that they get what the user said. */
  readonly determineInputForMembers?: boolean;
  /** Shows members what others were asked in this run, and what they answered. */
  readonly shareMemberInteractions?: boolean;
  /** Shows members what was said in earlier runs of the session. */
  readonly addTeamHistoryToMembers?: boolean;
  /** How many runs that are. Default 3. */
  readonly numTeamHistoryRuns?: number;

  // what is shown of members
  /** Sends the events of members with those of the team. Default true. */
  readonly streamMemberEvents?: boolean;
  /** Gives the leader a tool to read who the members are. */
  readonly memberInformationTool?: boolean;

  // bounds
  /** How many times members are asked in one run; after that the leader gets an error. */
  readonly maxDelegations?: number;
  /** How many members work at once. Left out: as many as are asked. */
  readonly maxParallelMembers?: number;
  /** How often the leader of mode `tasks` is called to its list. Default 10. */
  readonly maxIterations?: number;
}

export const defaultIterations = 10;
export const defaultHistoryRuns = 3;
