import type { ToolCallSite } from '../../../tools/tool-context.js';
import type { AgentExecution } from '../../execution.js';

const execution = Symbol('execution');

/** A call site through which built-in tools find the run that they serve. Tools of the application do not. */
export function siteWithin(within: AgentExecution, site: ToolCallSite): ToolCallSite {
  return { ...site, [execution]: within } as ToolCallSite;
}

export function executionOf(site: ToolCallSite): AgentExecution {
  const found = (site as { [execution]?: AgentExecution })[execution];
  if (found === undefined) throw new Error('This tool works only within the run of an agent.');
  return found;
}
