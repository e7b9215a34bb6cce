import type { Requirement } from '../context.js';
import type { StepRecord } from '../run.js';
import { readIf } from './codec.js';
import { waitInput } from './records.js';

/** What a question answers itself with when its time has come. */
export const timedOut = { timed_out: true } as const;

export function withDueTime(data: Requirement['data'], dueAt: number | undefined): Requirement['data'] {
  return dueAt === undefined ? data : { ...data, due_at: dueAt };
}

/** When an open question answers itself; undefined for one that does not. */
export function dueAtOf(step: StepRecord): number | undefined {
  return step.kind === 'wait' && step.status === 'running' ? readIf(step, waitInput)?.due_at : undefined;
}
