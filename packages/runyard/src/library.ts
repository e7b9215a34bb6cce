import { Agent } from './core/agents/agent.js';
import type { AgentSettings } from './core/agents/definition.js';
import { type AgentRunner, ephemeralRunner } from './core/agents/runner.js';
import type { Executable } from './core/runs/executable.js';
import type { TeamSettings } from './core/teams/settings.js';
import { Team } from './core/teams/team.js';
import { Workflow } from './core/workflows/workflow.js';
import type { WorkflowSettings } from './core/workflows/workflow-options.js';
import { systemTimers } from './platform/engine/local/timers.js';

/**
 * Defines an agent. It can be run as it is, with sessions of its own that live as long as the agent does; registered
 * with `new Runyard({ agents })` its runs and sessions are stored.
 */
export function agent(settings: AgentSettings): Agent {
  return inProcess(new Agent(settings));
}

/**
 * Defines a team: a leader with members, which are agents and other teams. It can be run as it is, with sessions of
 * its own that live as long as the team does; registered with `new Runyard({ teams })` its runs and sessions are stored.
 */
export function team(settings: TeamSettings): Team {
  return inProcess(new Team(settings));
}

/**
 * Defines a workflow: steps in order, side by side, again and again, or as somebody decides. It can be run as it is,
 * with sessions of its own that live as long as the workflow does; registered with `new Runyard({ workflows })` its
 * runs and sessions are stored.
 */
export function workflow(settings: WorkflowSettings): Workflow {
  return inProcess(new Workflow(settings));
}

/** Runs a component in this process, in a space of its own, until a service registers it. */
function inProcess<Component extends Executable & { attach(runner: () => AgentRunner): void }>(
  component: Component,
): Component {
  let runner: AgentRunner | undefined;
  component.attach(() => {
    runner ??= ephemeralRunner(component, systemTimers);
    return runner;
  });
  return component;
}
