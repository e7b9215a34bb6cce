import type { Tool } from '../tools/tool.js';

const delegating = new WeakSet<Tool>();

/** Marks tools of the framework that do nothing but have members of a team run. */
export function delegatingTools<Tools extends readonly Tool[]>(...tools: Tools): Tools {
  for (const one of tools) delegating.add(one);
  return tools;
}

/** Whether all that a call of the tool does is steps of runs inside: a replay looks into it. */
export function delegates(tool: Tool): boolean {
  return delegating.has(tool);
}
