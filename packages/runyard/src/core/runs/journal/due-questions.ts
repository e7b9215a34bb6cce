import type { JsonObject } from '../../json.js';
import type { StepRecord } from '../run.js';

/** What a question answers itself with when its time has come. */
export const timedOut = { timed_out: true } as const;

/** Where the input of a `wait` step says when that is. */
const dueField = 'due_at';

export function withDueTime(data: JsonObject, dueAt: number | undefined): JsonObject {
  return dueAt === undefined ? data : { ...data, [dueField]: dueAt };
}

/** When an open question answers itself; undefined for one that does not. */
export function dueAtOf({ kind, status, input }: StepRecord): number | undefined {
  if (kind !== 'wait' || status !== 'running') return undefined;
  return (input as { [dueField]?: number } | null)?.[dueField];
}
