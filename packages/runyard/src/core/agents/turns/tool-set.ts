import { type CollectedTools, collectTools, toolSourcesOf } from '../../tools/collect-tools.js';
import type { AgentExecution } from '../execution.js';

/** The tools of one run: the agent's own, the built-in ones that its settings add, and those of its sources. */
export async function toolSetOf({
  agent,
  context,
}: Pick<AgentExecution, 'agent' | 'context'>): Promise<CollectedTools> {
  const { id, tools, toolInstructions, toolEntries } = agent;
  const sources = toolSourcesOf(toolEntries);
  if (sources.length === 0) return { tools, instructions: toolInstructions };
  if (context.replay !== null) {
    // a replay opens no connections
    for (const { name } of sources) context.replay.leaveOut(`the tools of '${name}'`);
    return { tools, instructions: toolInstructions };
  }
  return collectTools(`Agent '${id}'`, toolEntries, (source) =>
    context.callApplication(source.name, () => source.tools(context.signal, context.log)),
  );
}
