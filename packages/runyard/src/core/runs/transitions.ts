import { errors } from '../errors/errors.js';
import type { RunStatus } from './run.js';

const next: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ['running', 'cancelled', 'error'],
  // running → running is the take-over of a run whose process died
  running: ['running', 'completed', 'error', 'cancelled', 'paused'],
  paused: ['running', 'cancelled'],
  completed: ['regenerated'],
  error: ['running'],
  cancelled: [],
  regenerated: [],
};

/** The one place that decides whether a run may change its status, and raises the error when it may not. */
export function assertTransition(runId: string, from: RunStatus, to: RunStatus): void {
  if (!next[from].includes(to)) throw errors.illegalTransition(runId, from, to);
}
