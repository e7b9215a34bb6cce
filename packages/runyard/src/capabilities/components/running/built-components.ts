import type {
  BuiltComponent,
  ComponentReference,
  ConfigFault,
  ConfigSite,
} from '../../../core/configs/component-config.js';
import { errors, RunyardError } from '../../../core/errors/errors.js';
import { isJsonObject } from '../../../core/json.js';
import { componentKey } from '../../../core/runs/resume/ending-executable.js';
import type { RunKind } from '../../../core/runs/run.js';
import { nameOf, type StoredComponents, type StoredConfig } from '../stored-components.js';
import {
  type ConfigTree,
  isTree,
  ownState,
  type RecordedStates,
  readTree,
  type TreeSite,
  within,
} from './config-tree.js';
import { LastUsed } from './last-used.js';

/** How configurations are read and built. It is loaded when the first stored component is needed. */
export interface ConfigLanguage {
  references(kind: RunKind, config: StoredConfig['config']): readonly ComponentReference[];
  /** Throws an error with all faults of the configuration, as `faultsOf` reads them. */
  build(kind: RunKind, id: string, config: StoredConfig['config'], site: BuiltSite): BuiltComponent;
  /** The configuration of a component that code defines. Throws an error with each place that has none. */
  write(component: BuiltComponent): StoredConfig['config'];
  /** The faults that an error of `build` lists; undefined for any other error. */
  faultsOf(error: unknown): readonly ConfigFault[] | undefined;
}

type BuiltSite = Omit<ConfigSite, 'registry'>;

export interface BuildingSite extends Pick<ConfigSite, 'databases'> {
  readonly stored: StoredComponents;
  readonly code: TreeSite['code'];
  language(): Promise<ConfigLanguage>;
  now(): number;
  /** Says where the runs of a built component are executed. */
  attach(component: BuiltComponent): void;
}

/** A stored component in a list: as it can be run, or why it cannot. */
export interface ListedComponent {
  readonly stored: StoredConfig;
  readonly component: BuiltComponent | undefined;
  readonly degraded: string | undefined;
}

interface Building {
  /** Whether what is built is kept for the next who asks for it. */
  readonly isKept: boolean;
  readonly isMember: boolean;
}

const keysKeptMs = 2_000;

/** How many built components a process keeps. */
const mostBuilt = 500;

/** Builds what is stored as data into components that run. */
export class BuiltComponents {
  /** By what they were built from, which never changes: nothing in it can be out of date. Runs keep what they use. */
  readonly #built = new LastUsed<BuiltComponent>(mostBuilt);
  /** Those that refer to no other component: the configuration alone says what they are. */
  readonly #alone = new WeakMap<StoredConfig, BuiltComponent>();
  readonly #references = new LastUsed<readonly ComponentReference[]>(mostBuilt);
  #keys: { readonly at: number; readonly read: Promise<readonly string[]> } | undefined;

  constructor(private readonly site: BuildingSite) {}

  /** The version, or else what is current; undefined when there is none. Throws when it cannot be built. */
  async find(kind: RunKind, id: string, version?: number): Promise<BuiltComponent | undefined> {
    const stored = await this.site.stored.find(kind, id, version);
    if (stored === undefined) return undefined;
    const alone = this.#alone.get(stored);
    if (alone !== undefined) return alone;
    const tree = await this.#tree(stored);
    const component = await this.#component(tree);
    if (tree.below.size === 0) this.#alone.set(stored, component);
    return component;
  }

  /** The component in the states that a run began with. Throws when one of them is gone. */
  async at(kind: RunKind, id: string, states: RecordedStates): Promise<BuiltComponent> {
    const began = `${componentKey(kind, id)} began with ${JSON.stringify(states)}`;
    const known = this.#built.get(began);
    if (known !== undefined) return known;
    const state = ownState(states, kind, id);
    const stored = state && (await this.site.stored.at(kind, id, state));
    if (stored === undefined) throw errors.configGone(kind, id, state?.version ?? 0, state?.revision ?? 0);
    const component = await this.#component(await this.#tree(stored, states));
    this.#built.set(began, component);
    return component;
  }

  /** Why a version, or else what is current, cannot be built; undefined when it can be. */
  async degraded(kind: RunKind, id: string, version?: number): Promise<string | undefined> {
    try {
      await this.find(kind, id, version);
      return undefined;
    } catch (error) {
      const reason = degradedReason(error);
      if (reason === undefined) throw error;
      return reason;
    }
  }

  /** The configuration alone: nothing is built. */
  config(kind: RunKind, id: string, version?: number): Promise<StoredConfig | undefined> {
    return this.site.stored.find(kind, id, version);
  }

  /** The ids of those of a kind, oldest first: at most so many as an error needs. */
  ids(kind: RunKind): Promise<readonly string[]> {
    return this.site.stored.ids(kind);
  }

  /** The configuration of a component that code defines: it can be stored under another id. */
  async written(component: BuiltComponent): Promise<StoredConfig['config']> {
    return (await this.site.language()).write(component);
  }

  /** The database that a configuration names, if this service has it. */
  databaseOf({ config: { db } }: StoredConfig): string | undefined {
    const id = isJsonObject(db) ? db.id : undefined;
    return this.site.databases.find((known) => known === id);
  }

  /** All of them by `componentKey`, as they were a moment ago: engines ask for them twice a second. */
  keys(): Promise<readonly string[]> {
    const now = this.site.now();
    if (this.#keys === undefined || now - this.#keys.at > keysKeptMs) {
      const read = this.site.stored.keys();
      this.#keys = { at: now, read };
      // the next one who asks tries again
      read.catch(() => {
        this.#keys = undefined;
      });
    }
    return this.#keys.read;
  }

  /** All of a kind for which `isWanted` holds. Nothing of it is kept: a list must not displace what runs. */
  async *list(kind: RunKind, isWanted: (id: string) => boolean): AsyncGenerator<ListedComponent, void, void> {
    for await (const page of this.site.stored.pages(kind)) {
      for (const stored of page) if (isWanted(stored.id)) yield await this.#listed(stored);
    }
  }

  /** Releases what the tools of built components hold. */
  async close(): Promise<void> {
    await Promise.all(Array.from(new Set(this.#built.clear()), (component) => component.close()));
  }

  async #listed(stored: StoredConfig): Promise<ListedComponent> {
    try {
      const tree = await this.#tree(stored);
      return { stored, component: await this.#component(tree, 'unless known'), degraded: undefined };
    } catch (error) {
      const reason = degradedReason(error);
      if (reason === undefined) throw error;
      return { stored, component: undefined, degraded: reason };
    }
  }

  async #tree(stored: StoredConfig, states?: RecordedStates): Promise<ConfigTree> {
    const language = await this.site.language();
    const references = (of: StoredConfig) => this.#referencesOf(language, of);
    return readTree({ stored: this.site.stored, references, code: this.site.code }, stored, states);
  }

  #referencesOf(language: ConfigLanguage, stored: StoredConfig): readonly ComponentReference[] {
    const { kind, id, digest, config } = stored;
    const key = `${componentKey(kind, id)} ${digest}`;
    const known = this.#references.get(key);
    if (known !== undefined) return known;
    const references = language.references(kind, config);
    this.#references.set(key, references);
    return references;
  }

  async #component(tree: ConfigTree, keeps: 'kept' | 'unless known' = 'kept'): Promise<BuiltComponent> {
    const known = this.#built.get(tree.key);
    if (known !== undefined) return known;
    if (tree.faults.length > 0) throw notBuilt(tree, tree.faults);
    try {
      return this.#build(tree, await this.site.language(), { isKept: keeps === 'kept', isMember: false });
    } catch (error) {
      throw error instanceof BuildFaults ? notBuilt(tree, error.faults) : error;
    }
  }

  /** What is built once is used wherever it is referred to. */
  #build(tree: ConfigTree, language: ConfigLanguage, { isKept, isMember }: Building): BuiltComponent {
    // a member without a model cannot run by itself
    const key = isMember && tree.stored.config.model == null ? `member ${tree.key}` : tree.key;
    const known = this.#built.get(key);
    if (known !== undefined) return known;
    const { databases } = this.site;
    const { kind, id, version, revision, stage } = tree.stored;
    const config = { ...tree.stored.config, name: nameOf(tree.stored) };
    const inside = { isKept, isMember: kind === 'team' };
    const below = new Map<string, BuiltComponent>();
    for (const [path, found] of tree.below)
      below.set(path, isTree(found) ? this.#buildBelow(path, found, language, inside) : found);
    const site = { databases, isMember, component: ({ path }: ComponentReference) => below.get(path) };
    let component: BuiltComponent;
    try {
      component = language.build(kind, id, config, site);
    } catch (error) {
      const faults = language.faultsOf(error);
      throw faults === undefined ? error : new BuildFaults(faults);
    }
    component.origin = { version, revision, stage, configs: tree.configs };
    this.site.attach(component);
    if (isKept) this.#built.set(key, component);
    return component;
  }

  /** The faults of a member are not those of its team: their places say where the member is. */
  #buildBelow(place: string, tree: ConfigTree, language: ConfigLanguage, building: Building): BuiltComponent {
    try {
      return this.#build(tree, language, building);
    } catch (error) {
      if (!(error instanceof BuildFaults)) throw error;
      throw new BuildFaults(error.faults.map((fault) => ({ ...fault, path: within(place, fault.path) })));
    }
  }
}

/** What keeps a component, or one that it refers to, from being built. */
class BuildFaults extends Error {
  constructor(readonly faults: readonly ConfigFault[]) {
    super('cannot be built');
  }
}

/** Contract: a model that nothing provides, or a type of step that nobody knows, means that there is no such component. */
const unknownPlaces = /^(?:model(?:\.|$)|steps\[.*\]\.type$)/;

function notBuilt(tree: ConfigTree, faults: readonly ConfigFault[]): Error {
  const reason = inWords(tree, faults);
  return faults.some(({ path }) => unknownPlaces.test(path))
    ? errors.componentUnusable(tree.stored.kind, reason)
    : errors.componentNotBuilt(reason);
}

const shownFaults = 10;

function inWords({ stored: { kind, id, version } }: ConfigTree, faults: readonly ConfigFault[]): string {
  const shown = faults.slice(0, shownFaults).map(({ path, message }) => `${path || 'the config'} ${message}`);
  const more = faults.length > shownFaults ? [`and ${faults.length - shownFaults} more.`] : [];
  return `Version ${version} of the ${kind} '${id}' cannot be built: ${[...shown, ...more].join(' ')}`;
}

/** Why a component cannot be built; undefined for an error of another kind. */
function degradedReason(error: unknown): string | undefined {
  if (!(error instanceof RunyardError)) return undefined;
  if (error.code === 'component_not_built') return error.message;
  return error.status === 404 ? error.options.fields?.hint : undefined;
}
