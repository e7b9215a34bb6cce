import { z } from 'zod';
import { delegatingTools } from '../../agents/delegating-tools.js';
import { taskStatuses } from '../../events/task-event.js';
import { nativeTool, type Tool } from '../../tools/tool.js';
import { memberNamed } from '../members/roster.js';
import { type LeadersTeam, leaderCallOf } from '../tools/leader.js';
import { executeTask, executeTasks } from './execute-tasks.js';
import { namedTask, taskId } from './named-task.js';
import { taskCreated, taskUpdated } from './task-events.js';
import { type TeamTask, taskIdOf, taskNamed, tasksOf } from './task-list.js';
import { taskSummary } from './task-text.js';

/** The tools with which a leader keeps its list of tasks. */
export function taskTools(team: LeadersTeam): readonly Tool[] {
  return [
    createTask(team),
    ...delegatingTools(executeTask(team), executeTasks(team)),
    updateTaskStatus(team),
    listTasks(team),
    addTaskNote(team),
    markAllComplete(),
  ];
}

function createTask(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'create_task',
    description: 'Put a task on the list.',
    inputSchema: z.object({
      title: z.string().trim().min(1).max(200).describe('A short title that no other task has.'),
      description: z.string().default('').describe('Everything that the member has to know for it.'),
      assignee: z.string().default('').describe('The id of the member who is to do it.'),
      depends_on: z
        .array(z.string())
        .max(50)
        .default([])
        .describe('The ids of tasks that have to be completed before it.'),
    }),
    execute({ title, description, assignee, depends_on }, site) {
      const { context, stepKey } = leaderCallOf(team, site);
      const { tasks } = tasksOf(context, stepKey);
      const same = taskNamed(tasks, title);
      if (same !== undefined) return `There is a task '${same.title}' already: its id is ${same.id}.`;
      if (assignee !== '') memberNamed(team.members, assignee);
      const before = depends_on.map((named) => namedTask(tasks, named));
      // the call itself is what puts it on the list
      const task: TeamTask = {
        id: taskIdOf(stepKey, title),
        title,
        description,
        assignee: assignee || null,
        dependencies: before.map(({ id }) => id),
        status: before.every(({ status }) => status === 'completed') ? 'pending' : 'blocked',
        result: null,
        notes: [],
      };
      context.emit(taskCreated(task), `${stepKey}:task`);
      return `Task ${task.id} '${task.title}' is on the list: ${task.status}.`;
    },
  });
}

function updateTaskStatus(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'update_task_status',
    description:
      'Set the status of a task that you have done yourself, or whose result you judge differently.',
    inputSchema: z.object({
      task_id: taskId,
      status: z.enum(taskStatuses),
      result: z.string().default('').describe('What came of it.'),
    }),
    execute({ task_id }, site) {
      const { context, stepKey } = leaderCallOf(team, site);
      const { tasks } = tasksOf(context, stepKey);
      const before = namedTask(tasks, task_id);
      const after = tasksOf(context).tasks;
      for (const task of after) {
        const previous = tasks.find(({ id }) => id === task.id)?.status;
        const isItsOwn = task.id === before.id || (previous === 'blocked' && task.status === 'pending');
        if (isItsOwn && previous !== undefined && previous !== task.status)
          context.emit(taskUpdated(task, previous), `${stepKey}:task:${task.id}`);
      }
      const now = namedTask(after, before.id);
      return `Task ${now.id} '${now.title}' is now ${now.status}.`;
    },
  });
}

function listTasks(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'list_tasks',
    description: 'Read the list of tasks: how each stands and what came of it.',
    readOnly: true,
    execute(_args, site) {
      const { context, stepKey } = leaderCallOf(team, site);
      return taskSummary(tasksOf(context, stepKey));
    },
  });
}

function addTaskNote(team: LeadersTeam): Tool {
  return nativeTool({
    name: 'add_task_note',
    description: 'Add a note to a task. The member who executes the task receives it.',
    inputSchema: z.object({ task_id: taskId, note: z.string().min(1).max(4_000) }),
    execute({ task_id }, site) {
      const { context, stepKey } = leaderCallOf(team, site);
      const { id, title } = namedTask(tasksOf(context, stepKey).tasks, task_id);
      return `Noted with task ${id} '${title}'.`;
    },
  });
}

function markAllComplete(): Tool {
  return nativeTool({
    name: 'mark_all_complete',
    description: 'Say that the goal is reached. Write the answer to the user after it.',
    inputSchema: z.object({ summary: z.string().default('').describe('What was reached, in short.') }),
    execute: () => 'All is marked as complete. Write the answer to the user now.',
  });
}
