import type { AgentExecution } from './execution.js';

/** Adds suggestions of what to ask next to what the run has to show. */
export async function suggestFollowups(_execution: AgentExecution, _answer: string): Promise<void> {}
