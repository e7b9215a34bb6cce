import { ComponentFactory } from '../../core/factories/component-factory.js';
import type { RegisteredTeam } from '../../core/factories/registered.js';
import type { TeamMember } from '../../core/teams/settings.js';
import type { AnyTeam } from '../../core/teams/team.js';
import {
  agentBodyOf,
  type Fields,
  factoryBodyOf,
  group,
  knowledgeDefaults,
  leaderFields,
  type ShownDatabases,
  unless,
  withoutEmpty,
} from './agent-body.js';

/** A team or a factory of teams as the wire shows it. */
export function registeredTeamBody(team: RegisteredTeam, databases: ShownDatabases): Fields {
  return team instanceof ComponentFactory ? factoryBodyOf(team, databases) : teamBodyOf(team, databases);
}

/** A team as the wire shows it: its leader as an agent, and its members, who may be teams. */
export function teamBodyOf(team: AnyTeam, databases: ShownDatabases): Fields {
  const { settings } = team;
  return withoutEmpty({
    ...leaderFields(team, databases),
    mode: team.mode,
    sessions: group({
      session_table: 'sessions',
      add_history_to_context: unless(settings.addHistoryToContext, false),
      num_history_runs: unless(settings.numHistoryRuns, 3),
      history_from: unless(settings.historyFrom, 'own'),
      num_history_messages: settings.numHistoryMessages,
      max_tool_calls_from_history: settings.maxToolCallsFromHistory,
      enable_session_summaries: unless(settings.enableSessionSummaries, false),
    }),
    default_tools: group({
      read_chat_history: unless(settings.readChatHistory, false),
      ...knowledgeDefaults(team),
      get_member_information_tool: unless(settings.memberInformationTool, false),
    }),
    streaming: { stream_member_events: settings.streamMemberEvents ?? true },
    members: team.members.map((member) => memberBodyOf(member, databases)),
  });
}

/** What a member does is stored with the team: its own database has nothing of it. */
export function memberBodyOf(member: TeamMember, databases: ShownDatabases): Fields {
  return isTeam(member) ? teamBodyOf(member, databases) : agentBodyOf(member, databases);
}

function isTeam(member: TeamMember): member is TeamMember & AnyTeam {
  return member.kind === 'team';
}
