import { delegatingTools } from '../../agents/delegating-tools.js';
import type { Tool } from '../../tools/tool.js';
import { type Toolkit, toolkit } from '../../tools/toolkit.js';
import { leaderInstructions } from '../members/rules.js';
import { taskTools } from '../tasks/task-tools.js';
import { delegateToMember, delegateToMembers, getMemberInformation } from './delegate-tools.js';
import type { LeadersTeam } from './leader.js';

/** The tools that a leader has because of the mode of its team, and what it reads about the team. */
export function leaderKit(team: LeadersTeam): Toolkit {
  const { mode = 'coordinate', memberInformationTool } = team.settings;
  return toolkit({
    name: 'team',
    tools: [...modeTools(team), ...(memberInformationTool ? [getMemberInformation(team)] : [])],
    instructions: leaderInstructions(mode, team.members),
  });
}

function modeTools(team: LeadersTeam): readonly Tool[] {
  switch (team.settings.mode) {
    case 'broadcast':
      return delegatingTools(delegateToMembers(team));
    case 'tasks':
      return taskTools(team);
    default:
      return delegatingTools(delegateToMember(team));
  }
}
