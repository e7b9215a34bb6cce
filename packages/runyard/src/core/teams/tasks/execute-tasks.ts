import { z } from 'zod';
import type { ChildOutcome } from '../../runs/journal/records.js';
import { settledValues } from '../../runs/settled.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { nativeTool, type Tool } from '../../tools/tool.js';
import { outcomeResult, outcomeText } from '../members/ask-members.js';
import { memberNamed } from '../members/roster.js';
import type { TeamMember } from '../settings.js';
import { type LeaderCall, type LeadersTeam, leaderCallOf } from '../tools/leader.js';
import { namedTask, taskId } from './named-task.js';
import { taskUpdated } from './task-events.js';
import { type TeamTask, tasksOf } from './task-list.js';
import { assignmentText } from './task-text.js';

/** A task that a member is to do. */
interface Assignment {
  readonly key: string;
  readonly task: TeamTask;
  readonly member: TeamMember;
}

export function executeTask(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'execute_task',
    description: 'Have a member do a task and get what came of it.',
    inputSchema: z.object({
      task_id: taskId,
      member_id: z
        .string()
        .default('')
        .describe('The id of the member; left out, the one it is assigned to.'),
    }),
    async execute({ task_id, member_id }, site) {
      const call = leaderCallOf(team, site);
      const assignment = assignmentOf(team, call, {
        key: call.memberKey,
        taskId: task_id,
        memberId: member_id,
      });
      call.delegations.reserve([assignment.key]);
      const outcome = await perform(call, assignment);
      return outcomeResult(resultText(assignment.task, outcome), [outcome]);
    },
  });
}

export function executeTasks(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'execute_tasks_parallel',
    description:
      'Have several tasks done side by side, each by the member it is assigned to, and get what came of each.',
    inputSchema: z.object({ task_ids: z.array(taskId).min(1).max(50) }),
    async execute({ task_ids }, site) {
      const call = leaderCallOf(team, site);
      const planned = planOf(team, call, task_ids);
      const assignments = planned.filter((one) => typeof one !== 'string');
      call.delegations.reserve(assignments.map(({ key }) => key));
      const outcomes = settledValues(
        await Promise.allSettled(assignments.map((assignment) => perform(call, assignment))),
      );
      const left = outcomes.values();
      const texts = planned.map((one) => {
        const outcome = typeof one === 'string' ? undefined : left.next().value;
        return typeof one === 'string' || outcome === undefined ? String(one) : resultText(one.task, outcome);
      });
      return outcomeResult(texts.join('\n\n'), outcomes);
    },
  });
}

/** What is to be done of a list: an assignment, or why a task is not. */
function planOf(team: LeadersTeam, call: LeaderCall, taskIds: readonly string[]): (Assignment | string)[] {
  const chosen = new Set<string>();
  return taskIds.map((id, position) => {
    try {
      const wanted = { key: `${call.memberKey}:${position}`, taskId: id, memberId: '' };
      const assignment = assignmentOf(team, call, wanted);
      if (chosen.has(assignment.task.id)) return `Task ${assignment.task.id} is named twice.`;
      chosen.add(assignment.task.id);
      return assignment;
    } catch (error) {
      if (error instanceof ToolRefused) return error.message;
      throw error;
    }
  });
}

interface WantedTask {
  readonly key: string;
  readonly taskId: string;
  readonly memberId: string;
}

function assignmentOf(
  team: LeadersTeam,
  call: LeaderCall,
  { key, taskId: id, memberId }: WantedTask,
): Assignment {
  const { tasks } = tasksOf(call.context, call.stepKey);
  const task = namedTask(tasks, id);
  const wanted = memberId || task.assignee;
  const [only, ...others] = team.members;
  const member = wanted ? memberNamed(team.members, wanted) : others.length === 0 ? only : undefined;
  if (member === undefined)
    throw new ToolRefused(`Task ${task.id} is assigned to nobody: give the member_id of who is to do it.`);
  // what has begun continues, however the list looks by now
  if (call.context.recorded(key) === undefined) assertReady(task, tasks);
  return { key, task, member };
}

function assertReady({ id, title, status, dependencies }: TeamTask, tasks: readonly TeamTask[]): void {
  if (status === 'blocked') {
    const open = tasks.filter((task) => dependencies.includes(task.id) && task.status !== 'completed');
    const names = open.map((task) => `${task.id} (${task.title}, ${task.status})`).join(', ');
    throw new ToolRefused(
      `Task ${id} '${title}' is blocked${names === '' ? '' : ` until these are completed: ${names}`}.`,
    );
  }
  if (status === 'in_progress' || status === 'completed')
    throw new ToolRefused(
      `Task ${id} '${title}' is ${status === 'completed' ? 'completed' : 'being done'} already.`,
    );
}

async function perform(call: LeaderCall, { key, task, member }: Assignment): Promise<ChildOutcome> {
  const { context, delegations, stepKey } = call;
  const started: TeamTask = { ...task, status: 'in_progress', assignee: task.assignee ?? member.id };
  if (context.recorded(key) === undefined)
    context.emit(taskUpdated(started, task.status), `${stepKey}:task:${task.id}`);
  const { tasks } = tasksOf(context, stepKey);
  const outcome = await delegations.ask({ key, member, task: assignmentText(task, tasks) });
  const status = outcome.status === 'completed' ? 'completed' : 'failed';
  const ended: TeamTask = { ...started, status, result: outcomeText(outcome) };
  context.emit(taskUpdated(ended, 'in_progress'), `${key}:task`);
  if (status === 'completed') tellUnblocked(call, key, task.id);
  return outcome;
}

/** What waited for the task and for nothing else can be done from now on. */
function tellUnblocked({ context }: LeaderCall, key: string, taskId: string): void {
  for (const task of tasksOf(context).tasks) {
    if (task.status === 'pending' && task.dependencies.includes(taskId))
      context.emit(taskUpdated(task, 'blocked'), `${key}:unblocked:${task.id}`);
  }
}

function resultText({ id, title }: TeamTask, outcome: ChildOutcome): string {
  return `Task ${id} '${title}' ${outcome.status === 'completed' ? 'is completed' : 'failed'}:\n${outcomeText(outcome)}`;
}
