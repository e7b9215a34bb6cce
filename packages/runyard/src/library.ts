import { Agent } from './core/agents/agent.js';
import type { AgentSettings } from './core/agents/definition.js';
import { type AgentRunner, ephemeralRunner } from './core/agents/runner.js';
import { systemTimers } from './platform/engine/local/timers.js';

let runner: AgentRunner | undefined;

/**
 * Defines an agent. It can be run as it is, with sessions that live as long as the process; registered with
 * `new Runyard({ agents })` its runs and sessions are stored.
 */
export function agent(settings: AgentSettings): Agent {
  const made = new Agent(settings);
  made.attach(() => {
    runner ??= ephemeralRunner(systemTimers);
    return runner;
  });
  return made;
}
