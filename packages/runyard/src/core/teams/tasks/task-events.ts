import type { JsonObject } from '../../json.js';
import type { RunEvent } from '../../runs/events/logged-event.js';
import type { TaskList, TaskStatus, TeamTask } from './task-list.js';
import { taskSummary } from './task-text.js';

export function iterationStarted(iteration: number, max: number): RunEvent {
  return { name: 'TaskIterationStarted', payload: { iteration, max_iterations: max } };
}

export function iterationCompleted(iteration: number, max: number, list: TaskList): RunEvent {
  return {
    name: 'TaskIterationCompleted',
    payload: { iteration, max_iterations: max, task_summary: taskSummary(list) },
  };
}

export function taskCreated({ id, title, description, assignee, status, dependencies }: TeamTask): RunEvent {
  return {
    name: 'TaskCreated',
    payload: {
      task_id: id,
      title,
      description,
      assignee: assignee ?? undefined,
      status,
      dependencies: [...dependencies],
    },
  };
}

export function taskUpdated(task: TeamTask, previous: TaskStatus): RunEvent {
  const { id, title, status, assignee, result } = task;
  const ended = status === 'completed' || status === 'failed';
  return {
    name: 'TaskUpdated',
    payload: {
      task_id: id,
      title,
      status,
      previous_status: previous,
      result: ended ? (result ?? undefined) : undefined,
      assignee: assignee ?? undefined,
    },
  };
}

export function taskStateUpdated(list: TaskList): RunEvent {
  return {
    name: 'TaskStateUpdated',
    payload: {
      task_summary: taskSummary(list),
      goal_complete: list.goalComplete,
      tasks: list.tasks.map(taskBody),
      completion_summary: list.completionSummary ?? undefined,
    },
  };
}

function taskBody({ id, title, description, status, assignee, dependencies, result }: TeamTask): JsonObject {
  return { id, title, description, status, assignee, dependencies: [...dependencies], result };
}
