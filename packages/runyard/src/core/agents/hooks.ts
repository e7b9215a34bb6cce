import type { RunResult } from '../runs/run.js';
import type { AgentExecution } from './execution.js';

/** Looks at, changes or refuses the input of a run. */
export interface PreHook {
  readonly name: string;
}

/** Looks at, changes or refuses the output of a run. */
export interface PostHook {
  readonly name: string;
}

export async function runPreHooks(_execution: AgentExecution): Promise<void> {}

export async function runPostHooks(_execution: AgentExecution, result: RunResult): Promise<RunResult> {
  return result;
}
