import { type CollectedTools, collectTools, toolSourcesOf } from '../../tools/collect-tools.js';
import type { AgentExecution } from '../execution.js';

/** The tools of one run: the agent's own, the built-in ones that its settings add, and those of its sources. */
export async function toolSetOf({
  agent,
  context,
}: Pick<AgentExecution, 'agent' | 'context'>): Promise<CollectedTools> {
  const { id, tools, toolInstructions, toolEntries } = agent;
  if (toolSourcesOf(toolEntries).length === 0) return { tools, instructions: toolInstructions };
  return collectTools(`Agent '${id}'`, toolEntries, context.signal);
}
