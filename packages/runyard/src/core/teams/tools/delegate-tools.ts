import { z } from 'zod';
import { settledValues } from '../../runs/settled.js';
import { nativeTool, type Tool } from '../../tools/tool.js';
import { outcomeResult, outcomeText } from '../members/ask-members.js';
import { memberNamed, membersText } from '../members/roster.js';
import { type LeadersTeam, leaderCallOf } from './leader.js';

/** What the members are to do; without a say in that, the leader need not write it. */
function taskOf({ settings }: LeadersTeam) {
  return settings.determineInputForMembers === false
    ? z.string().default('').describe('Leave it out: members get what the user said.')
    : z
        .string()
        .min(1)
        .describe('What is to be done, with everything that has to be known for it: nothing else is seen.');
}

export function delegateToMember(team: LeadersTeam): Tool {
  const isRoute = team.settings.mode === 'route';
  return nativeTool({
    name: 'delegate_task_to_member',
    description: isRoute
      ? 'Hand what the user asks to the member who fits best. The answer of the member goes to the user.'
      : 'Hand a task to one member of the team and get the answer.',
    inputSchema: z.object({
      member_id: z.string().min(1).describe('The id of the member, as given in the list of members.'),
      task: taskOf(team),
    }),
    stopAfterCall: isRoute,
    showResult: isRoute,
    async execute({ member_id, task }, site) {
      const { delegations, memberKey: key } = leaderCallOf(team, site);
      const member = memberNamed(team.members, member_id);
      delegations.reserve([key]);
      const outcome = await delegations.ask({ key, member, task });
      return outcomeResult(outcomeText(outcome), [outcome]);
    },
  });
}

export function delegateToMembers(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'delegate_task_to_members',
    description: 'Hand one task to all members of the team at once and get all their answers.',
    inputSchema: z.object({ task: taskOf(team) }),
    async execute({ task }, site) {
      const { delegations, memberKey } = leaderCallOf(team, site);
      const questions = team.members.map((member, position) => ({
        key: `${memberKey}:${position}`,
        member,
        task,
      }));
      delegations.reserve(questions.map(({ key }) => key));
      const outcomes = settledValues(
        await Promise.allSettled(questions.map((question) => delegations.ask(question))),
      );
      const texts = outcomes.map(
        (outcome, position) => `Member '${team.members[position]?.id}':\n${outcomeText(outcome)}`,
      );
      return outcomeResult(texts.join('\n\n'), outcomes);
    },
  });
}

export function getMemberInformation({ members }: LeadersTeam): Tool {
  return nativeTool({
    name: 'get_member_information',
    description: 'Read who the members of the team are, what they can do and which tools they have.',
    readOnly: true,
    execute: () => membersText(members),
  });
}
