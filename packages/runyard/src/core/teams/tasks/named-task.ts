import { z } from 'zod';
import { lazySchema } from '../../schemas/lazy-schema.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { type TeamTask, taskNamed } from './task-list.js';

export const taskId = lazySchema(() =>
  z.string().min(1).describe('The id of the task, as create_task and list_tasks tell it.'),
);

/** The task that the leader means; the leader gets an error when it does not exist. */
export function namedTask(tasks: readonly TeamTask[], named: string): TeamTask {
  const task = taskNamed(tasks, named);
  if (task !== undefined) return task;
  const known = tasks.map(({ id, title }) => `${id} (${title})`).join(', ');
  throw new ToolRefused(
    `There is no task '${named}'. ${known === '' ? 'The list is empty.' : `There are: ${known}.`}`,
  );
}
