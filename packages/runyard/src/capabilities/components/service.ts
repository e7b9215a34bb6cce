import { Agent, type AnyAgent } from '../../core/agents/agent.js';
import { onModel } from '../../core/components/on-model.js';
import { standIn } from '../../core/components/stand-in.js';
import type { BuiltComponent } from '../../core/configs/component-config.js';
import { errors, isReported, RunyardError } from '../../core/errors/errors.js';
import { AgentFactory } from '../../core/factories/agent-factory.js';
import { type AnyFactory, ComponentFactory } from '../../core/factories/component-factory.js';
import type { RegisteredAgent, RegisteredTeam, RegisteredWorkflow } from '../../core/factories/registered.js';
import { TeamFactory } from '../../core/factories/team-factory.js';
import { WorkflowFactory } from '../../core/factories/workflow-factory.js';
import type { JsonObject } from '../../core/json.js';
import type { Model } from '../../core/models/model.js';
import { isRemote } from '../../core/remote/remote-component.js';
import { type Executable, RunFailed } from '../../core/runs/executable.js';
import { componentKey } from '../../core/runs/resume/ending-executable.js';
import type { ConfigVersion, Run, RunKind, RunOptions } from '../../core/runs/run.js';
import { type AnyTeam, Team } from '../../core/teams/team.js';
import { type AnyWorkflow, Workflow } from '../../core/workflows/workflow.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { BuiltComponents } from './running/built-components.js';
import { ownState } from './running/config-tree.js';
import { nameOf, type StoredConfig } from './stored-components.js';

/** Something that stands ready to run. */
export type ReadyComponent = AnyAgent | AnyTeam | AnyWorkflow;

export type Component = ReadyComponent | AnyFactory;

interface ShownModel {
  readonly id: string;
  readonly provider: string;
}

/** What a caller may do to a component. */
export type ComponentAction = 'read' | 'run';

export interface RegisteredComponents {
  readonly agents?: readonly RegisteredAgent[] | undefined;
  readonly teams?: readonly RegisteredTeam[] | undefined;
  readonly workflows?: readonly RegisteredWorkflow[] | undefined;
}

/** A caller who may do one of these to a component may know that it is there. */
const shownActions = ['read', 'run'] as const;

/** Which state of a stored component is meant. Code has one state: both are ignored for what it defines. */
export interface MeantState {
  readonly version?: number | undefined;
  /** The states that a run or an eval began with: no others will do. */
  readonly configs?: RunOptions['configs'];
}

/** A component as data. */
export interface ComponentCopy extends Partial<ConfigVersion>, Pick<StoredConfig, 'kind' | 'id' | 'config'> {
  readonly name: string;
  readonly stage?: StoredConfig['stage'];
}

/** Everything that can run: what code registers, and, once a service is open, what is stored as data. */
export class ComponentsService {
  private built: BuiltComponents | undefined;
  private readonly agents: ReadonlyMap<string, RegisteredAgent>;
  private readonly teams: ReadonlyMap<string, RegisteredTeam>;
  private readonly workflows: ReadonlyMap<string, RegisteredWorkflow>;

  constructor({ agents = [], teams = [], workflows = [] }: RegisteredComponents) {
    this.agents = byId('agent', agents);
    this.teams = byId('team', teams);
    this.workflows = byId('workflow', workflows);
  }

  /** What is stored can be run from now on, until the answer is called. */
  connect(built: BuiltComponents): () => void {
    this.built = built;
    return () => {
      if (this.built === built) this.built = undefined;
    };
  }

  /** Registered agents and factories in the order of their registration; those of them that the caller may see. */
  listAgents(caller?: Caller, actions?: readonly ComponentAction[]): RegisteredAgent[] {
    return allowed('agent', this.agents, caller, actions);
  }

  listTeams(caller?: Caller, actions?: readonly ComponentAction[]): RegisteredTeam[] {
    return allowed('team', this.teams, caller, actions);
  }

  listWorkflows(caller?: Caller, actions?: readonly ComponentAction[]): RegisteredWorkflow[] {
    return allowed('workflow', this.workflows, caller, actions);
  }

  /** What a caller may see or run. */
  shownTo(caller: Caller) {
    return {
      agents: this.listAgents(caller, shownActions),
      teams: this.listTeams(caller, shownActions),
      workflows: this.listWorkflows(caller, shownActions),
    };
  }

  /** The models of the registered components that a caller may see or run, each once. */
  models(caller: Caller): ShownModel[] {
    return unique(modelsOf(Object.values(this.shownTo(caller)).flat()));
  }

  /** The same with those of stored components. */
  async allModels(caller: Caller): Promise<ShownModel[]> {
    const models = this.models(caller);
    for (const kind of ['agent', 'team'] as const)
      for await (const { component } of this.listStored(kind, caller, shownActions))
        if (component !== undefined) models.push(...modelsOf([component]));
    return unique(models);
  }

  /** The model of the first stored agent, or else team, that can be built. */
  async firstStoredModel(): Promise<Model | undefined> {
    for (const kind of ['agent', 'team'] as const)
      for await (const { component } of this.built?.list(kind, () => true) ?? [])
        if (component !== undefined && component.model !== null) return component.model;
    return undefined;
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

  /** All components by `componentKey`, those that are stored included. */
  async keys(): Promise<string[]> {
    const code = this.list().map((component) => componentKey(component.kind, component.id));
    return [...code, ...((await this.built?.keys()) ?? [])];
  }

  /** Components that exist already and are not built for each run. */
  ready(): ReadyComponent[] {
    return this.list().filter(isReady);
  }

  /** What runs under an id: what code registers, or else what is stored. Throws when it cannot be built. */
  async get(kind: RunKind, id: string, caller?: Caller, state?: MeantState): Promise<Component> {
    return (await this.resolve(kind, id, state)) ?? this.missing(kind, id, caller, state?.version);
  }

  /** The kinds with their own types: a stored component is of the kind that was asked for. */
  async getAgent(id: string, caller: Caller, state?: MeantState): Promise<RegisteredAgent> {
    const found = await this.get('agent', id, caller, state);
    return found instanceof Agent || found instanceof AgentFactory
      ? found
      : this.missing('agent', id, caller);
  }

  async getTeam(id: string, caller: Caller, state?: MeantState): Promise<RegisteredTeam> {
    const found = await this.get('team', id, caller, state);
    return found instanceof Team || found instanceof TeamFactory ? found : this.missing('team', id, caller);
  }

  async getWorkflow(id: string, caller: Caller, state?: MeantState): Promise<RegisteredWorkflow> {
    const found = await this.get('workflow', id, caller, state);
    return found instanceof Workflow || found instanceof WorkflowFactory
      ? found
      : this.missing('workflow', id, caller);
  }

  /** The same; undefined when there is no such component. Nothing is read for what code registers. */
  async resolve(kind: RunKind, id: string, state: MeantState = {}): Promise<Component | undefined> {
    const { version, configs } = state;
    if (configs === undefined) return this.find(kind, id) ?? this.built?.find(kind, id, version);
    return ownState(configs, kind, id) === undefined ? this.find(kind, id) : this.began(kind, id, configs);
  }

  /** What a run is shown with: undefined also when it cannot be built. */
  shownOf({ kind, componentId, input: { options } }: Run): Promise<Component | undefined> {
    return this.shown(kind, componentId, { configs: options.configs ?? {} });
  }

  /** What sessions and lists are shown with: undefined also when it cannot be built. */
  async shown(kind: RunKind, id: string, state?: MeantState): Promise<Component | undefined> {
    try {
      return await this.resolve(kind, id, state);
    } catch (error) {
      if (isReported(error) || !(error instanceof RunyardError)) throw error;
      return undefined;
    }
  }

  /** What is stored under an id that code does not register. Nothing is built. */
  async config(kind: RunKind, id: string, version?: number): Promise<StoredConfig | undefined> {
    return this.find(kind, id) === undefined ? this.built?.config(kind, id, version) : undefined;
  }

  /** What a component is as data: as it is stored, or as code defines it. Throws when its config cannot hold it all. */
  async copy(kind: RunKind, id: string, caller: Caller, version?: number): Promise<ComponentCopy> {
    const stored = await this.config(kind, id, version);
    if (stored !== undefined) return { ...stored, name: String(nameOf(stored)) };
    const component = this.find(kind, id);
    if (component === undefined || this.built === undefined) return this.missing(kind, id, caller, version);
    if (component instanceof ComponentFactory) throw errors.factoryNotCopied(kind, id);
    return { kind, id, name: component.name, config: await this.built.written(component) };
  }

  /** Why a stored component cannot run in this version, or else the current one; undefined when it can. */
  degraded(kind: RunKind, id: string, version?: number): Promise<string | undefined> {
    return this.built?.degraded(kind, id, version) ?? Promise.resolve(undefined);
  }

  /** Which database new runs of a component are stored in; undefined when there is no such component. */
  async home(kind: RunKind, id: string): Promise<{ readonly database: string | undefined } | undefined> {
    const component = this.find(kind, id);
    if (component !== undefined) return { database: component.settings.database };
    const stored = await this.built?.config(kind, id);
    return stored && { database: this.built?.databaseOf(stored) };
  }

  /** The stored components of a kind that the caller may read, those that cannot be built included. */
  async *listStored(kind: RunKind, caller: Caller, actions: readonly ComponentAction[] = ['read']) {
    const isShown = (id: string) => this.find(kind, id) === undefined && mayOne(caller, kind, id, actions);
    yield* this.built?.list(kind, isShown) ?? [];
  }

  private async began(
    kind: RunKind,
    id: string,
    states: NonNullable<RunOptions['configs']>,
  ): Promise<BuiltComponent> {
    // nothing else is taken for what is stored
    if (this.built === undefined)
      throw errors.componentNotBuilt(`The ${kind} '${id}' is stored in a database that is not open.`);
    return this.built.at(kind, id, states);
  }

  /** What a stored run is a run of, in the state that the run began with; undefined when it is not registered here. */
  ofRun({ kind, componentId, input: { options } }: Run): Promise<Component | undefined> {
    return this.resolve(kind, componentId, { configs: options.configs ?? {} });
  }

  /** The error names the version that does not exist, or else what the caller may see or run. */
  async missing(kind: RunKind, id: string, caller?: Caller, version?: number): Promise<never> {
    if (caller === undefined) throw errors.componentNotFound(kind);
    const reason = await this.lackOf(kind, id, version);
    if (reason !== undefined) throw errors.componentUnusable(kind, reason);
    const lists = { agent: this.agents, team: this.teams, workflow: this.workflows };
    const seen = allowed<Component>(kind, lists[kind], caller, shownActions);
    const stored = ((await this.built?.ids(kind)) ?? []).filter(
      (one) => this.find(kind, one) === undefined && mayOne(caller, kind, one, shownActions),
    );
    throw errors.componentNotFound(kind, [...seen.map((one) => one.id), ...stored]);
  }

  /** That a component exists, but not in this version; undefined when it does not exist at all. */
  async lackOf(kind: RunKind, id: string, version: number | undefined): Promise<string | undefined> {
    if (version === undefined || (await this.config(kind, id)) === undefined) return undefined;
    return `The ${kind} '${id}' has no version ${version}. GET /components/${id}/configs lists its versions.`;
  }

  find(kind: RunKind, id: string): Component | undefined {
    return { agent: this.agents, team: this.teams, workflow: this.workflows }[kind].get(id);
  }

  /** What executes a stored run; undefined when its component is neither registered here nor stored. */
  async executableOf(run: Run, state: () => Promise<JsonObject>): Promise<Executable | undefined> {
    let component: Component | undefined;
    try {
      component = await this.ofRun(run);
    } catch (error) {
      // no process will ever have it: the run ends and says why, instead of waiting
      if (error instanceof RunyardError && error.code === 'config_gone') return failing(run, error);
      throw error;
    }
    if (component instanceof ComponentFactory) return component.rebuilt(run, await state());
    const { model } = run.input.options;
    return component === undefined || model === undefined ? component : onModel(component, model);
  }
}

function modelsOf(components: readonly Component[]): ShownModel[] {
  return components.flatMap((component) => {
    // what a remote component shows in the place of a model is not a model
    const model = component instanceof ComponentFactory || isRemote(component) ? null : component.model;
    return model === null ? [] : [{ id: model.id, provider: model.provider }];
  });
}

function unique(models: readonly ShownModel[]): ShownModel[] {
  return [...new Map(models.map((model) => [`${model.provider}\n${model.id}`, model])).values()];
}

/** Ends a run with an error that it cannot overcome. */
function failing(run: Run, { code: type, message }: RunyardError): Executable {
  return { ...standIn(run), execute: () => Promise.reject(new RunFailed({ type, message })) };
}

/** Without a caller: all. With one: those that they may do one of these things to. */
function allowed<Kind extends Component>(
  kind: RunKind,
  components: ReadonlyMap<string, Kind>,
  caller: Caller | undefined,
  actions: readonly ComponentAction[] = ['read'],
): Kind[] {
  const all = [...components.values()];
  if (caller === undefined) return all;
  return all.filter(({ id }) => mayOne(caller, kind, id, actions));
}

function mayOne(caller: Caller, kind: RunKind, id: string, actions: readonly ComponentAction[]): boolean {
  return actions.some((action) => caller.rights.may(`${kind}s:${action}`, id));
}

function byId<Kind extends Component>(kind: RunKind, components: readonly Kind[]): ReadonlyMap<string, Kind> {
  const map = new Map<string, Kind>();
  for (const component of components) {
    const { id } = component;
    if (map.has(id))
      throw errors.invalidConfig(`Two ${kind}s have the id '${id}'. Give one of them another id.`);
    if (isReady(component)) component.assertRuns();
    map.set(id, component);
  }
  return map;
}

function isReady(component: Component): component is ReadyComponent {
  return !(component instanceof ComponentFactory);
}
