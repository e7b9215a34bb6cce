import type { AgentExecution } from './execution.js';

/** Thinks before the first model call, step by step, and shows the model what came of it. */
export async function reason(_execution: AgentExecution): Promise<void> {}
