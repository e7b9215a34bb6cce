import type { AgentExecution } from './execution.js';

/** Shortens old tool results before the next model call when the conversation has grown too long. */
export async function compressToolResults(_execution: AgentExecution, _turn: number): Promise<void> {}
