import type { ToolCallSite } from '../../../tools/tool-context.js';
import type { AgentExecution } from '../../execution.js';

const execution = Symbol('execution');
const step = Symbol('step');

/** A call site through which built-in tools find the run that they serve. Tools of the application do not. */
type SiteWithin = ToolCallSite & { readonly [execution]?: AgentExecution; readonly [step]?: string };

export function siteWithin(within: AgentExecution, stepKey: string, site: ToolCallSite): SiteWithin {
  // what the site computes when it is asked for stays so
  return Object.assign(site, { [execution]: within, [step]: stepKey });
}

export function executionOf(site: ToolCallSite): AgentExecution {
  const { [execution]: found }: SiteWithin = site;
  if (found === undefined) throw new Error('This tool works only within the run of an agent.');
  return found;
}

/** The key of the step that the call is. */
export function stepKeyOf(site: ToolCallSite): string {
  const { [step]: key = '' }: SiteWithin = site;
  return key;
}
