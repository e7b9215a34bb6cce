import type { CallerTool } from '../../runs/caller-input.js';
import { RunFailed } from '../../runs/executable.js';
import { onlyShown } from '../../schemas/json-schema.js';
import type { CollectedTools } from '../../tools/collect-tools.js';
import { nativeTool, type Tool } from '../../tools/tool.js';

/**
 * Adds the tools of the caller to those of a component. A name that a source of the component's offers is known only
 * now; the others were checked when the run was started.
 */
export function withCallerTools(
  collected: CollectedTools,
  given: readonly CallerTool[] = [],
): CollectedTools {
  if (given.length === 0) return collected;
  const tools = new Map(collected.tools);
  for (const definition of given) {
    if (tools.has(definition.name)) throw taken(definition.name);
    tools.set(definition.name, callerTool(definition));
  }
  return { ...collected, tools };
}

/** The client checks the arguments itself: it gets what the model wrote, as long as that is a JSON object. */
function callerTool({ name, description = '', inputSchema, strict }: CallerTool): Tool {
  return nativeTool({
    name,
    description,
    inputSchema: onlyShown({ ...inputSchema }),
    ...(strict && { strict }),
    externalExecution: true,
    externalExecutionSilent: true,
  });
}

function taken(name: string): RunFailed {
  return new RunFailed({
    type: 'tool_name_taken',
    message: `The request brings a tool '${name}', but the component has a tool of that name. Rename the tool of the request.`,
  });
}
