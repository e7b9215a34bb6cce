import { agentShape } from '../agents/agent-options.js';
import { ofRun } from '../agents/context/of-run-kind.js';
import type { Shape } from '../options/kind.js';
import { callable, count, flag, having, listOf, objectOf, required, text, word } from '../options/kinds.js';
import { type TeamMember, type TeamSettings, teamModes } from './settings.js';

const member = having<Pick<TeamMember, 'kind' | 'id' | 'execute'>>(
  'an agent or a team, made with agent() or team()',
  { kind: required(word('agent', 'team')), id: required(text), execute: required(callable) },
);

export const teamShape: Shape<TeamSettings> = {
  ...agentShape,
  members: required(ofRun(listOf(member, 1))),
  mode: word(...teamModes),
  determineInputForMembers: flag,
  shareMemberInteractions: flag,
  addTeamHistoryToMembers: flag,
  numTeamHistoryRuns: count(1),
  streamMemberEvents: flag,
  memberInformationTool: flag,
  maxDelegations: count(1),
  maxParallelMembers: count(1),
  maxIterations: count(1),
};

export const teamOptions = objectOf(teamShape);
