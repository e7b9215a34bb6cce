import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, team, tool, workflow } from '../../index.js';
import { scriptedModel } from '../../testing.js';
import type { TeamSettings } from './settings.js';
import type { Team } from './team.js';

const model = scriptedModel([]);
const member = (id: string, database?: string) =>
  agent({ id, model, ...(database !== undefined && { database }) });
const desk = (settings: Partial<TeamSettings>) => () =>
  team({ id: 'desk', model, members: [member('a')], ...settings });

/** So many teams, each the only member of the next. */
function nested(levels: number): Team {
  let inner = team({ id: 'team-1', model, members: [member('a')] });
  for (let level = 2; level <= levels; level += 1)
    inner = team({ id: `team-${level}`, model, members: [inner] });
  return inner;
}

describe('a definition that cannot work is refused', () => {
  test.each<[string, () => unknown, string]>([
    ['no members', desk({ members: [] }), "Team 'desk': members is an empty list"],
    ['members left out', desk({ members: undefined as never }), "Team 'desk': members is missing"],
    [
      'a member that is nothing',
      desk({ members: [undefined as never] }),
      'members[0] is undefined. Give an agent or a team',
    ],
    [
      'a workflow as a member',
      desk({ members: [member('a'), workflow({ id: 'flow', steps: [() => ''] }) as never] }),
      "Team 'desk': members[1] is an object. Give an agent or a team, made with agent() or team().",
    ],
    ['two members with one id', desk({ members: [member('a'), member('a')] }), "two members with the id 'a'"],
    ['an unknown mode', desk({ mode: 'vote' as never }), "mode is 'vote'. Give 'coordinate', 'route'"],
    ['itself', desk({ members: [desk({})()] }), "Team 'desk' contains itself"],
    [
      'itself further inside',
      desk({ members: [team({ id: 'other', model, members: [desk({})()] })] }),
      "Team 'desk' contains itself",
    ],
    ['too deep a nesting', () => nested(11), "Team 'team-11' nests teams 11 levels deep"],
    [
      'a member called as a tool',
      desk({ members: [member('delegate_task_to_member')] }),
      "member with the id 'delegate_task_to_member', which is the name of a tool",
    ],
    [
      'a tool called as one of the leader',
      desk({ tools: [tool({ name: 'delegate_task_to_member', description: 'x', execute: () => '' })] }),
      "Team 'desk' has two tools named 'delegate_task_to_member'",
    ],
    [
      'a member of another database',
      desk({ database: 'main', members: [member('a', 'archive')] }),
      "the member 'a', which names the database 'archive', while the team names 'main'",
    ],
    ['no delegations', desk({ maxDelegations: 0 }), "Team 'desk': maxDelegations is 0"],
    ['half an iteration', desk({ maxIterations: 0.5 }), "Team 'desk': maxIterations is 0.5"],
    ['an unknown time zone', desk({ timezone: 'Moon' }), "Team 'desk': timezone is 'Moon'"],
    ['no id', () => team({ model, members: [member('a')] }), 'A team needs an id or a name'],
  ])('%s', (_what, define, message) => {
    expect(define).toThrow(message);
  });
});

test('ten teams can be nested', () => {
  expect(nested(10).members).toHaveLength(1);
});

describe('the tools of a leader', () => {
  const namesIn = (settings: Partial<TeamSettings>) => [...desk(settings)().tools.keys()];

  test('are those of the mode', () => {
    expect(namesIn({})).toEqual(['delegate_task_to_member']);
    expect(namesIn({ mode: 'route', memberInformationTool: true })).toEqual([
      'delegate_task_to_member',
      'get_member_information',
    ]);
    expect(namesIn({ mode: 'broadcast', readChatHistory: true })).toEqual([
      'delegate_task_to_members',
      'get_chat_history',
    ]);
    expect(namesIn({ mode: 'tasks' })).toEqual([
      'create_task',
      'execute_task',
      'execute_tasks_parallel',
      'update_task_status',
      'list_tasks',
      'add_task_note',
      'mark_all_complete',
    ]);
  });
});

test('a member that takes data gets it in its shape, and the leader gets an error when it does not fit', async () => {
  const reader = scriptedModel(['ok']);
  const leader = scriptedModel([
    {
      toolCalls: [
        { name: 'delegate_task_to_member', id: 'one', arguments: { member_id: 'a', task: 'just words' } },
        {
          name: 'delegate_task_to_member',
          id: 'two',
          arguments: { member_id: 'a', task: '{"city":"Rome"}' },
        },
      ],
    },
    'Done.',
  ]);
  const reads = agent({ id: 'a', model: reader, inputSchema: z.object({ city: z.string() }) });
  await team({ id: 'desk', model: leader, members: [reads] }).run('Go');
  expect(leader.requests[1]!.messages.at(-2)!.content).toContain(
    "Member 'a' takes a JSON object as its task",
  );
  expect(JSON.parse(reader.requests[0]!.messages.at(-1)!.content)).toEqual({ city: 'Rome' });
});
