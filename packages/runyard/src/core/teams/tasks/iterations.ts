import { continueRecordOf, reminder } from '../../agents/continuation/conversation.js';
import type { RunContext } from '../../runs/context.js';
import { continueRecord } from '../../runs/journal/records.js';
import type { StepRecord } from '../../runs/run.js';
import { iterationCompleted, iterationStarted, taskStateUpdated } from './task-events.js';
import { hasCalledSince, type TaskList, tasksOf } from './task-list.js';
import { reminderText } from './task-text.js';

/** Emits that the leader begins with its list. */
export function beginIterations(context: RunContext, max: number): void {
  // a continued run is in an iteration that was already emitted
  if (context.entry !== 'continued') context.emit(iterationStarted(1, max), 'iteration:1:started');
}

/**
 * The leader has nothing more to call: that ends an iteration. Answers whether another one follows; the leader is then
 * reminded of its list.
 */
export async function nextIteration(context: RunContext, turn: number, max: number): Promise<boolean> {
  const reminders = context.steps('continue').filter(isReminder);
  const iteration = reminders.length + 1;
  const list = tasksOf(context);
  context.emit(taskStateUpdated(list), `iteration:${iteration}:state`);
  context.emit(iterationCompleted(iteration, max, list), `iteration:${iteration}:completed`);
  const begunAt = reminders.map((step) => continueRecordOf(step).turn).at(-1) ?? 0;
  // one who calls no tool has nothing left to do, and would say the same again
  const worked = hasCalledSince(context, begunAt);
  if (!worked || isDone(list) || iteration >= max) return false;
  const spec = { kind: 'continue', name: reminder, record: continueRecord } as const;
  await context.step(`continue:tasks:${iteration}`, spec, async () => {
    context.emit(iterationStarted(iteration + 1, max), `iteration:${iteration + 1}:started`);
    return { turn: turn + 1, input: reminderText(list), options: {} };
  });
  return true;
}

function isReminder({ name, status }: StepRecord): boolean {
  return name === reminder && status === 'completed';
}

/** An answer without tasks is an answer. */
function isDone({ tasks, goalComplete }: TaskList): boolean {
  return goalComplete || tasks.every(({ status }) => status === 'completed');
}
