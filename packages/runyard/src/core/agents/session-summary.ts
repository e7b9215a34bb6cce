import type { AgentExecution } from './execution.js';

/** Brings the summary of the session up to date. */
export async function summariseSession(_execution: AgentExecution, _answer: string): Promise<void> {}
