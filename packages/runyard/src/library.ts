import { Agent } from './core/agents/agent.js';
import { noteNamed } from './core/agents/context/chosen-sources.js';
import type { AgentSettings } from './core/agents/definition.js';
import { type ComponentSpace, inProcessSpace } from './core/components/component-space.js';
import { AgentFactory, type AgentFactorySettings } from './core/factories/agent-factory.js';
import { type AnyFactory, ComponentFactory } from './core/factories/component-factory.js';
import type { GivenFactoryInput } from './core/factories/factory-request.js';
import { TeamFactory, type TeamFactorySettings } from './core/factories/team-factory.js';
import { WorkflowFactory, type WorkflowFactorySettings } from './core/factories/workflow-factory.js';
import type { Json, JsonSchema } from './core/json.js';
import { Knowledge } from './core/knowledge/knowledge.js';
import type { KnowledgeSettings } from './core/knowledge/knowledge-settings.js';
import type { Log } from './core/log.js';
import { checkValue } from './core/options/check-options.js';
import { logKind } from './core/options/log-kind.js';
import { RemoteAgent, remoteSettings } from './core/remote/remote-agent.js';
import { lazyService, type RemoteSite, remoteSite } from './core/remote/remote-component.js';
import {
  type A2aOptions,
  a2aOptions,
  type RemoteOptions,
  remoteOptions,
} from './core/remote/remote-options.js';
import { RemoteTeam } from './core/remote/remote-team.js';
import { RemoteWorkflow, remoteWorkflowSettings } from './core/remote/remote-workflow.js';
import type { Executable } from './core/runs/executable.js';
import type { RunKind } from './core/runs/run.js';
import type { FittedTo, InputFor } from './core/schemas/schema-types.js';
import type { ValueSchema } from './core/schemas/value-schema.js';
import type { TeamMode, TeamSettings } from './core/teams/settings.js';
import { Team } from './core/teams/team.js';
import type { Chained } from './core/workflows/definition/chained-steps.js';
import { Workflow } from './core/workflows/workflow.js';
import type { WorkflowSettings } from './core/workflows/workflow-options.js';
import { systemTimers } from './platform/engine/local/timers.js';
import { survivingLog } from './platform/surviving-log.js';

/**
 * Defines an agent. It can be run as it is, with sessions of its own that live as long as the agent does; registered
 * with `new Runyard({ agents })` its runs and sessions are stored.
 */
export function agent<Output extends ValueSchema = never, Input extends ValueSchema = never>(
  settings: AgentSettings<Output, Input> & LibraryOptions,
): Agent<FittedTo<Output>, InputFor<Input>> {
  return withLog('agent()', settings, (own) => new Agent(own));
}

/** Defines an agent that is built for each run, from the run's `factory_input` and its caller. */
export function agentFactory<Schema extends ValueSchema = JsonSchema, Content = unknown>(
  settings: AgentFactorySettings<Schema, Content> & LibraryOptions,
): AgentFactory<GivenFactoryInput<Schema>, Content> {
  return withLog('agentFactory()', settings, (own) => new AgentFactory(own));
}

/** Defines a team that is built for each run, as `agentFactory()` does an agent. */
export function teamFactory<Schema extends ValueSchema = JsonSchema, Content = unknown>(
  settings: TeamFactorySettings<Schema, Content> & LibraryOptions,
): TeamFactory<GivenFactoryInput<Schema>, Content> {
  return withLog('teamFactory()', settings, (own) => new TeamFactory(own));
}

/** Defines a workflow that is built for each run, as `agentFactory()` does an agent. */
export function workflowFactory<Schema extends ValueSchema = JsonSchema, Content = unknown>(
  settings: WorkflowFactorySettings<Schema, Content> & LibraryOptions,
): WorkflowFactory<GivenFactoryInput<Schema>, Content> {
  return withLog('workflowFactory()', settings, (own) => new WorkflowFactory(own));
}

/**
 * Defines a team: a leader with members, which are agents and other teams. It can be run as it is, with sessions of
 * its own that live as long as the team does; registered with `new Runyard({ teams })` its runs and sessions are stored.
 */
export function team<
  Output extends ValueSchema = never,
  Input extends ValueSchema = never,
  Mode extends TeamMode = 'coordinate',
>(
  settings: TeamSettings<Output, Input, Mode> & LibraryOptions,
): Team<FittedTo<Output, Mode extends 'route' ? Json : string>, InputFor<Input>> {
  return withLog('team()', settings, (own) => new Team(own));
}

/**
 * Defines a workflow: steps in order, side by side, again and again, or as a person decides. It can be run as it is,
 * with sessions of its own that live as long as the workflow does; registered with `new Runyard({ workflows })` its
 * runs and sessions are stored.
 */
export function workflow<Input extends ValueSchema = never, const Steps = unknown>(
  settings: WorkflowSettings<Input> & { readonly steps: Steps & Chained<Steps, Input> } & LibraryOptions,
): Workflow<Json, InputFor<Input>> {
  // its functions are called with what their schema made of the input
  return withLog('workflow()', settings as WorkflowSettings & LibraryOptions, (own) => new Workflow(own));
}

/**
 * Defines a knowledge base. It can be used as it is, with a temporary database that ends with the process; registered
 * with `new Runyard({ knowledge })`, or used by a registered agent or team, its contents are stored.
 */
export function knowledge(settings: KnowledgeSettings): Knowledge {
  const defined = new Knowledge(settings);
  defined.attach(async () => {
    // a service of its own attaches it anew: what follows does not come here again
    const { openTemporary } = await import('./library/temporary-knowledge.js');
    return openTemporary(defined);
  });
  return defined;
}

/**
 * Defines an agent that another service executes: a Runyard or an AgentOS. It is used like any other: run as it is,
 * registered, as a member of a team, as a step of a workflow.
 */
export function remoteAgent(options: RemoteOptions): RemoteAgent {
  const settings = remoteSettings('remoteAgent()', options, remoteOptions);
  return inProcess(new RemoteAgent(settings, siteOf('agent', options)));
}

/** Defines a team that another service executes, as `remoteAgent()` does an agent. */
export function remoteTeam(options: RemoteOptions): RemoteTeam {
  const settings = remoteSettings('remoteTeam()', options, remoteOptions);
  return inProcess(new RemoteTeam(settings, siteOf('team', options)));
}

/** Defines a workflow that another service executes, as `remoteAgent()` does an agent. */
export function remoteWorkflow(options: RemoteOptions): RemoteWorkflow {
  const settings = remoteWorkflowSettings(options);
  return inProcess(new RemoteWorkflow(settings, siteOf('workflow', options)));
}

/**
 * Defines an agent that another service executes and that is reached over A2A, whatever it is made with. `url` is that of
 * its card, or what `/.well-known/agent-card.json` is below.
 */
export function a2aAgent(options: A2aOptions): RemoteAgent {
  const settings = remoteSettings('a2aAgent()', options, a2aOptions);
  const service = lazyService(options.url.replace(/\/+$/, ''), async () => {
    const { A2aService } = await import('./platform/remote/a2a/a2a-service.js');
    return new A2aService(options);
  });
  return inProcess(new RemoteAgent(settings, remoteSite(options, options.id, service)));
}

function siteOf(kind: RunKind, options: RemoteOptions): RemoteSite {
  const address = options.url.replace(/\/+$/, '');
  const service = lazyService(address, async () => {
    const { AgentOsService } = await import('./platform/remote/agentos-service.js');
    return new AgentOsService(kind, options);
  });
  return remoteSite(options, options.id, service);
}

/** What a component takes beside its settings, for runs that no service executes. */
export interface LibraryOptions {
  /** Receives what a service would log: hooks that crash, runs that fail, retries. A service has a log of its own. */
  readonly log?: Log;
}

/** The log is no setting: it is not part of what the component is. */
function withLog<Settings extends object, Defined extends Attachable>(
  method: string,
  settings: Settings & LibraryOptions,
  define: (own: Settings) => Defined,
): Defined {
  // what is no object of settings is refused as such
  if (typeof settings !== 'object' || settings?.log === undefined) return inProcess(define(settings));
  const { log, ...own } = settings;
  checkValue(method, 'log', log, logKind);
  // the rest has all that Settings has: a log is no part of it
  return inProcess(define(own as unknown as Settings), log);
}

type Attachable = (Executable | AnyFactory) & { attach(open: () => Promise<ComponentSpace>): void };

/** Runs a component in this process, in a space of its own, until a service registers it. */
function inProcess<Defined extends Attachable>(component: Defined, log?: Log): Defined {
  if (!(component instanceof ComponentFactory)) noteNamed(component.toolSources ?? []);
  let space: ComponentSpace | undefined;
  component.attach(async () => {
    space ??= inProcessSpace(executedBy(component), systemTimers, log && survivingLog(log));
    return space;
  });
  return component;
}

/** A factory builds what executes a run again for each execution. */
function executedBy(component: Attachable): Parameters<typeof inProcessSpace>[0] {
  if (!(component instanceof ComponentFactory)) return component;
  return async (run, journal) => component.rebuilt(run, (await journal.session(run.sessionId))?.state ?? {});
}
