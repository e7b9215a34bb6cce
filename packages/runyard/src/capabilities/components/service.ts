import type { AnyAgent } from '../../core/agents/agent.js';
import { AgentFactory } from '../../core/agents/agent-factory.js';
import { onModel } from '../../core/components/on-model.js';
import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Executable } from '../../core/runs/executable.js';
import { componentKey } from '../../core/runs/resume/ending-executable.js';
import type { Run, RunKind } from '../../core/runs/run.js';
import type { AnyTeam } from '../../core/teams/team.js';
import type { AnyWorkflow } from '../../core/workflows/workflow.js';
import type { Caller } from '../../platform/auth/caller.js';

/** An agent that stands ready, or what builds one for each run. */
export type RegisteredAgent = AnyAgent | AgentFactory;

/** Something that stands ready to run. */
export type ReadyComponent = AnyAgent | AnyTeam | AnyWorkflow;

export type Component = ReadyComponent | AgentFactory;

/** What a caller may do to a component. */
export type ComponentAction = 'read' | 'run';

export interface RegisteredComponents {
  readonly agents?: readonly RegisteredAgent[] | undefined;
  readonly teams?: readonly AnyTeam[] | undefined;
  readonly workflows?: readonly AnyWorkflow[] | undefined;
}

/** A caller who may do one of these to a component may know that it is there. */
const shownActions = ['read', 'run'] as const;

/** Everything that is registered and can run. */
export class ComponentsService {
  private readonly agents: ReadonlyMap<string, RegisteredAgent>;
  private readonly teams: ReadonlyMap<string, AnyTeam>;
  private readonly workflows: ReadonlyMap<string, AnyWorkflow>;

  constructor({ agents = [], teams = [], workflows = [] }: RegisteredComponents) {
    this.agents = byId('agent', agents);
    this.teams = byId('team', teams);
    this.workflows = byId('workflow', workflows);
  }

  /** Registered agents and factories in the order of their registration; those of them that the caller may see. */
  listAgents(caller?: Caller, actions?: readonly ComponentAction[]): RegisteredAgent[] {
    return allowed('agents', this.agents, caller, actions);
  }

  listTeams(caller?: Caller, actions?: readonly ComponentAction[]): AnyTeam[] {
    return allowed('teams', this.teams, caller, actions);
  }

  listWorkflows(caller?: Caller, actions?: readonly ComponentAction[]): AnyWorkflow[] {
    return allowed('workflows', this.workflows, caller, actions);
  }

  /** What a caller may see or run. */
  shownTo(caller: Caller) {
    return {
      agents: this.listAgents(caller, shownActions),
      teams: this.listTeams(caller, shownActions),
      workflows: this.listWorkflows(caller, shownActions),
    };
  }

  /** The models of what a caller may see or run, each once. */
  models(caller: Caller): { id: string; provider: string }[] {
    const unique = new Map<string, { id: string; provider: string }>();
    for (const component of Object.values(this.shownTo(caller)).flat()) {
      const model = component instanceof AgentFactory ? null : component.model;
      if (model !== null)
        unique.set(`${model.provider}\n${model.id}`, { id: model.id, provider: model.provider });
    }
    return [...unique.values()];
  }

  list(): Component[] {
    return [...this.listAgents(), ...this.listTeams(), ...this.listWorkflows()];
  }

  /** An id of each kind that is registered, by the name of its parameter in paths. */
  exampleIds(): Record<string, string> {
    const lists = { agent_id: this.agents, team_id: this.teams, workflow_id: this.workflows };
    const first = Object.entries(lists).flatMap(([name, list]) => {
      const [id] = list.keys();
      return id === undefined ? [] : [[name, id]];
    });
    return Object.fromEntries(first);
  }

  /** All components by `componentKey`. */
  keys(): string[] {
    return this.list().map((component) => componentKey(kindOf(component), component.id));
  }

  /** Components that exist already and are not built for each run. */
  ready(): ReadyComponent[] {
    return this.list().filter(isReady);
  }

  getAgent(id: string, caller: Caller): RegisteredAgent {
    return this.agents.get(id) ?? this.missing('agent', caller);
  }

  getTeam(id: string, caller: Caller): AnyTeam {
    return this.teams.get(id) ?? this.missing('team', caller);
  }

  getWorkflow(id: string, caller: Caller): AnyWorkflow {
    return this.workflows.get(id) ?? this.missing('workflow', caller);
  }

  /** The error names what the caller may see or run. */
  missing(kind: RunKind, caller?: Caller): never {
    if (caller === undefined) throw errors.componentNotFound(kind);
    const lists = { agent: this.agents, team: this.teams, workflow: this.workflows };
    const seen = allowed<Component>(`${kind}s`, lists[kind], caller, shownActions);
    throw errors.componentNotFound(
      kind,
      seen.map(({ id }) => id),
    );
  }

  find(kind: RunKind, id: string): Component | undefined {
    return { agent: this.agents, team: this.teams, workflow: this.workflows }[kind].get(id);
  }

  /** What executes a stored run; undefined when its component is not registered here. */
  async executableOf(run: Run, state: () => Promise<JsonObject>): Promise<Executable | undefined> {
    const component = this.find(run.kind, run.componentId);
    if (component instanceof AgentFactory) return component.rebuilt(run, await state());
    const { model } = run.input.options;
    return component === undefined || model === undefined ? component : onModel(component, model);
  }
}

/** Without a caller: all. With one: those that they may do one of these things to. */
function allowed<Kind extends Component>(
  resource: 'agents' | 'teams' | 'workflows',
  components: ReadonlyMap<string, Kind>,
  caller: Caller | undefined,
  actions: readonly ComponentAction[] = ['read'],
): Kind[] {
  const all = [...components.values()];
  if (caller === undefined) return all;
  return all.filter(({ id }) => actions.some((action) => caller.rights.may(`${resource}:${action}`, id)));
}

function byId<Kind extends Component>(kind: RunKind, components: readonly Kind[]): ReadonlyMap<string, Kind> {
  const map = new Map<string, Kind>();
  for (const component of components) {
    const { id } = component;
    if (map.has(id))
      throw errors.invalidConfig(`Two ${kind}s have the id '${id}'. Give one of them another id.`);
    map.set(id, component);
  }
  return map;
}

function isReady(component: Component): component is ReadyComponent {
  return !(component instanceof AgentFactory);
}

function kindOf(component: Component): RunKind {
  return isReady(component) ? component.kind : 'agent';
}
