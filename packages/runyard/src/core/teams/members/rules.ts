import type { TeamMember, TeamMode } from '../settings.js';
import { membersText } from './roster.js';

const rules: Readonly<Record<TeamMode, string>> = {
  coordinate: [
    'You lead a team. Decide which of your members can help with what the user asks, and hand work to them with delegate_task_to_member: several calls at once for work that can be done side by side, one after the other where one needs what another found out.',
    'Members see nothing but the task that you write: put everything into it that they need to know.',
    'Judge what they answer, ask again where something is missing, and write the answer to the user yourself. What needs no member, answer at once.',
  ].join('\n'),
  route: [
    'You lead a team. Choose the one member who fits best for what the user asks, and hand it over with delegate_task_to_member: what the member answers goes to the user as it is.',
    'Only when no member fits, answer yourself.',
  ].join('\n'),
  broadcast: [
    'You lead a team. Hand what the user asks to all members at once with delegate_task_to_members, with everything in the task that they need to know: they see nothing else.',
    'Then compare what they answer, weigh it up, and write one answer to the user yourself.',
  ].join('\n'),
  tasks: [
    'You lead a team and keep a list of tasks. Take what the user asks apart into tasks with create_task: each with a title, with all that a member has to know, with the member who is to do it, and with the tasks that have to be done before it.',
    'Have them done with execute_task, or with execute_tasks_parallel for those that need nothing of each other. A task is blocked until what it depends on is completed; its member then receives the results of those tasks.',
    'Look at the results: call update_task_status for a task that you do yourself or whose result you judge differently, add_task_note for what is worth remembering, and list_tasks to see the status of all tasks. When the goal is reached, call mark_all_complete and write the answer to the user.',
    'What needs no member and no tasks, answer at once.',
  ].join('\n'),
};

/** What the leader reads about its team. */
export function leaderInstructions(mode: TeamMode, members: readonly TeamMember[]): string {
  return `${rules[mode]}\n\nThe members of your team:\n${membersText(members)}`;
}
