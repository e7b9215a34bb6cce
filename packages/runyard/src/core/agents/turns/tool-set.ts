import { type CollectedTools, collectTools, toolSourcesOf } from '../../tools/collect-tools.js';
import type { AgentExecution } from '../execution.js';
import { withCallerTools } from './caller-tools.js';

/**
 * The tools of one run: the agent's own, the built-in ones that its settings add, those of its sources and those of the
 * caller.
 */
export async function toolSetOf(run: Pick<AgentExecution, 'agent' | 'context'>): Promise<CollectedTools> {
  return withCallerTools(await ownTools(run), run.context.options.callerInput?.tools);
}

async function ownTools({
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
