import type { RunSlots } from '../../core/runs/leases/run-slots.js';

/** What this process is busy with, as `/info` and `/ready` show it. */
export function runCounts({ executing, waiting, limits }: RunSlots) {
  return {
    executing,
    waiting,
    max_executing: limits.executing,
    max_waiting: limits.waiting,
  };
}
