import { shortened } from '../../agents/auxiliary/bounded-text.js';
import type { TaskList, TeamTask } from './task-list.js';

const longestResult = 500;

/** The state of the tasks, as the leader and the readers of the run see it. */
export function taskSummary({ tasks, goalComplete, completionSummary }: TaskList): string {
  if (tasks.length === 0) return 'There are no tasks.';
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const lines = tasks.map(taskLine);
  if (goalComplete)
    lines.push(`All is marked as complete${completionSummary ? `: ${completionSummary}` : '.'}`);
  return [`${done} of ${tasks.length} tasks completed.`, ...lines].join('\n');
}

function taskLine({ id, title, status, assignee, dependencies, result, notes }: TeamTask): string {
  const facts = [
    ...(assignee === null ? [] : [`assigned to ${assignee}`]),
    ...(dependencies.length === 0 ? [] : [`after ${dependencies.join(', ')}`]),
  ];
  return [
    `- [${id}] ${status}: ${title}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`,
    ...(result === null ? [] : [`  result: ${shortened(result, longestResult)}`]),
    ...notes.map((note) => `  note: ${note}`),
  ].join('\n');
}

/** What the leader reads at the beginning of a further iteration. */
export function reminderText(list: TaskList): string {
  return `${taskSummary(list)}\n\nGo on with what is left: have open tasks done, decide about failed ones. When the goal is reached, call mark_all_complete and write the answer to the user.`;
}

/** What the member of a task reads. */
export function assignmentText(task: TeamTask, tasks: readonly TeamTask[]): string {
  const before = tasks.filter(({ id, result }) => task.dependencies.includes(id) && result !== null);
  return [
    task.title,
    ...(task.description === '' ? [] : [task.description]),
    ...(task.notes.length === 0 ? [] : [`Notes:\n${task.notes.map((note) => `- ${note}`).join('\n')}`]),
    ...before.map(({ title, result }) => `What came of '${title}':\n${result}`),
  ].join('\n\n');
}
