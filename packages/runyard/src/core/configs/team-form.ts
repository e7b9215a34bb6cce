import type { Json, JsonObject } from '../json.js';
import type { TeamSettings } from '../teams/settings.js';
import { teamShape } from '../teams/team-options.js';
import { agentKeys, agentKeysWithoutSetting } from './agent-form.js';
import {
  type ConfigForm,
  type ConfigKey,
  fixed,
  isAbsent,
  key,
  neededToBuild,
  plain,
} from './config-keys.js';
import { members } from './values/member-value.js';

/** Keys that choose a mode when they are true. */
const modeFlags = { respond_directly: 'route', delegate_to_all_members: 'broadcast' } as const;

const plainMode = plain('mode', teamShape.mode);

const mode: ConfigKey = {
  ...plainMode,
  keys: ['mode', ...Object.keys(modeFlags)],
  read: (config, at) => {
    let chosen: Json | undefined = isAbsent(config.mode) ? undefined : config.mode;
    for (const [flagName, wanted] of Object.entries(modeFlags)) {
      const value = config[flagName];
      if (isAbsent(value) || at.within(flagName).checked(teamShape.streamMemberEvents, value) !== true)
        continue;
      if (chosen !== undefined && chosen !== wanted)
        at.within(flagName).fault(`is true, which means the mode '${wanted}', but the mode is '${chosen}'.`);
      chosen ??= wanted;
    }
    return chosen === undefined ? undefined : plainMode.read({ mode: chosen } satisfies JsonObject, at);
  },
};

/** Each setting of a team, with its key: those of its leader, which is an agent, and those of the team. */
export const teamForm: ConfigForm<TeamSettings> = {
  what: 'a team',
  keys: {
    ...agentKeys,
    members: neededToBuild(key('members', fixed(members)), 'a list of members'),
    mode,
    determineInputForMembers: plain('determine_input_for_members', teamShape.determineInputForMembers),
    shareMemberInteractions: plain('share_member_interactions', teamShape.shareMemberInteractions),
    addTeamHistoryToMembers: plain('add_team_history_to_members', teamShape.addTeamHistoryToMembers),
    numTeamHistoryRuns: plain('num_team_history_runs', teamShape.numTeamHistoryRuns),
    streamMemberEvents: plain('stream_member_events', teamShape.streamMemberEvents),
    memberInformationTool: plain('get_member_information_tool', teamShape.memberInformationTool),
    maxDelegations: plain('max_delegations', teamShape.maxDelegations),
    maxParallelMembers: plain('max_parallel_members', teamShape.maxParallelMembers),
    maxIterations: plain('max_iterations', teamShape.maxIterations),
  },
  without: {
    ...agentKeysWithoutSetting,
    add_member_tools_to_context: [false],
    store_member_responses: [false],
    show_members_responses: [false],
  },
};
