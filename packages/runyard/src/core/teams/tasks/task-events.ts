import type { RunEvent } from '../../events/run-event.js';
import type { TaskStatus } from '../../events/task-event.js';
import type { TaskList, TeamTask } from './task-list.js';
import { taskSummary } from './task-text.js';

export function iterationStarted(iteration: number, max: number): RunEvent {
  return { event: 'TaskIterationStarted', iteration, max_iterations: max };
}

export function iterationCompleted(iteration: number, max: number, list: TaskList): RunEvent {
  return {
    event: 'TaskIterationCompleted',
    iteration,
    max_iterations: max,
    task_summary: taskSummary(list),
  };
}

export function taskCreated({ id, title, description, assignee, status, dependencies }: TeamTask): RunEvent {
  return {
    event: 'TaskCreated',
    task_id: id,
    title,
    description,
    assignee: assignee ?? undefined,
    status,
    dependencies,
  };
}

export function taskUpdated(task: TeamTask, previous: TaskStatus): RunEvent {
  const { id, title, status, assignee, result } = task;
  const ended = status === 'completed' || status === 'failed';
  return {
    event: 'TaskUpdated',
    task_id: id,
    title,
    status,
    previous_status: previous,
    result: ended ? (result ?? undefined) : undefined,
    assignee: assignee ?? undefined,
  };
}

export function taskStateUpdated(list: TaskList): RunEvent {
  return {
    event: 'TaskStateUpdated',
    task_summary: taskSummary(list),
    goal_complete: list.goalComplete,
    tasks: list.tasks.map(taskBody),
    completion_summary: list.completionSummary ?? undefined,
  };
}

function taskBody({ id, title, description, status, assignee, dependencies, result }: TeamTask) {
  return { id, title, description, status, assignee, dependencies, result };
}
