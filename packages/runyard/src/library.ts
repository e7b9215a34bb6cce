import { Agent } from './core/agents/agent.js';
import type { AgentSettings } from './core/agents/definition.js';
import { type AgentRunner, ephemeralRunner } from './core/agents/runner.js';
import type { TeamSettings } from './core/teams/settings.js';
import { Team } from './core/teams/team.js';
import { Workflow } from './core/workflows/workflow.js';
import type { WorkflowSettings } from './core/workflows/workflow-options.js';
import { systemTimers } from './platform/engine/local/timers.js';

let runner: AgentRunner | undefined;

/**
 * Defines an agent. It can be run as it is, with sessions that live as long as the process; registered with
 * `new Runyard({ agents })` its runs and sessions are stored.
 */
export function agent(settings: AgentSettings): Agent {
  const made = new Agent(settings);
  made.attach(inProcess);
  return made;
}

/**
 * Defines a team: a leader with members, which are agents and other teams. It can be run as it is, with sessions that
 * live as long as the process; registered with `new Runyard({ teams })` its runs and sessions are stored.
 */
export function team(settings: TeamSettings): Team {
  const made = new Team(settings);
  made.attach(inProcess);
  return made;
}

/**
 * Defines a workflow: steps in order, side by side, again and again, or as somebody decides. It can be run as it is,
 * with sessions that live as long as the process; registered with `new Runyard({ workflows })` its runs and sessions
 * are stored.
 */
export function workflow(settings: WorkflowSettings): Workflow {
  const made = new Workflow(settings);
  made.attach(inProcess);
  return made;
}

function inProcess(): AgentRunner {
  runner ??= ephemeralRunner(systemTimers);
  return runner;
}
