import type { Tool } from '../tools/tool.js';

/** By their code: a tool under another name does the same. */
const delegating = new WeakSet<object>();

/** Marks tools of the framework that do nothing but have components run, such as the members of a team. */
export function delegatingTools<Tools extends readonly Tool[]>(...tools: Tools): Tools {
  for (const one of tools) delegating.add(one.code);
  return tools;
}

/** Whether all that a call of the tool does is steps of runs inside: a replay looks into it. */
export function delegates(tool: Tool): boolean {
  return delegating.has(tool.code);
}
