import type { JsonObject } from '../json.js';
import type { RunEvent } from './run-event.js';

const everyEvent = ['created_at', 'event', 'event_index', 'run_id', 'session_id', 'nested_depth'];
/** What an event says about itself: one of the application cannot pass for another one. */
const reserved = {
  agent: new Set([...everyEvent, 'agent_id', 'agent_name', 'team_id', 'team_name', 'parent_run_id']),
  workflow: new Set([...everyEvent, 'workflow_id', 'workflow_name']),
};

/** An event that a tool of an agent sent, without what the tool put into it. */
export function emptyCustomEvent(event: JsonObject): JsonObject {
  const kept = Object.entries(event).filter(([name]) => reserved.agent.has(name) || name === 'tool_call_id');
  return Object.fromEntries(kept);
}

/** An event of the application. `about`: what it belongs to. */
export function customEvent(by: keyof typeof reserved, fields: JsonObject, about: JsonObject): RunEvent {
  const given = Object.entries(fields).filter(([name]) => !reserved[by].has(name));
  return { ...Object.fromEntries(given), ...about, event: 'CustomEvent' };
}
