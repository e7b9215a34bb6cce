import { fieldsOf } from '../objects.js';
import type { Tool } from './tool.js';

/** An agent, a team or a workflow, which models can call as a tool. */
export interface ToolComponent {
  readonly id: string;
  asTool(): Tool;
}

export function isToolComponent(entry: unknown): entry is ToolComponent {
  return typeof fieldsOf(entry).asTool === 'function';
}

/** The same entry, or the tool that a component is. */
export function plainEntry<Entry>(entry: Entry): Exclude<Entry, ToolComponent> | Tool {
  // what is left is no component
  return isToolComponent(entry) ? entry.asTool() : (entry as Exclude<Entry, ToolComponent>);
}
