import type { Run } from '../run.js';
import type { RunUpdate } from './ports.js';

/** What of a run changes while it is executed. */
export function updateOf(run: Run): RunUpdate {
  return {
    status: run.status,
    result: run.result,
    leaseOwner: run.leaseOwner,
    leaseExpiresAt: run.leaseExpiresAt,
    nextEventIndex: run.nextEventIndex,
    updatedAt: run.updatedAt,
    wakeAt: run.wakeAt,
    definition: run.definition,
    askers: run.askers,
  };
}
