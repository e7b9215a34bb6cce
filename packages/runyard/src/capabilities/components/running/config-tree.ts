import type {
  BuiltComponent,
  ComponentReference,
  ConfigFault,
} from '../../../core/configs/component-config.js';
import { errors } from '../../../core/errors/errors.js';
import { type AnyFactory, ComponentFactory } from '../../../core/factories/component-factory.js';
import { componentKey } from '../../../core/runs/resume/ending-executable.js';
import type { ConfigVersion, RunKind, RunOptions } from '../../../core/runs/run.js';
import type { StoredComponents, StoredConfig } from '../stored-components.js';

/** The states that a run began with. */
export type RecordedStates = NonNullable<RunOptions['configs']>;

/** A stored configuration with what its references mean. */
export interface ConfigTree {
  readonly stored: StoredConfig;
  /** What each reference means, by its path. One that means nothing is left out. */
  readonly below: ReadonlyMap<string, ConfigTree | BuiltComponent>;
  /** What is wrong with the references, here and below. */
  readonly faults: readonly ConfigFault[];
  /** The states of all stored components in it. */
  readonly configs: RecordedStates;
  /** The same text for the same states of the same components in the same places. */
  readonly key: string;
}

export interface TreeSite {
  readonly stored: Pick<StoredComponents, 'find' | 'at'>;
  references(stored: StoredConfig): readonly ComponentReference[];
  /** What code defines under an id. */
  code(kind: RunKind, id: string): BuiltComponent | AnyFactory | undefined;
}

/** How far teams and workflows may contain each other, and how many places one tree may have. */
const mostLevels = 16;
const mostPlaces = 1_000;

/** The place of a state among those of a tree: a component may be pinned to one version and current elsewhere. */
function stateKey(kind: RunKind, id: string, pinned?: number): string {
  return componentKey(kind, id) + (pinned === undefined ? '' : ` v${pinned}`);
}

/** The state of the component itself among those that its run began with. */
export function ownState(states: RecordedStates, kind: RunKind, id: string): ConfigVersion | undefined {
  return states[stateKey(kind, id)];
}

/**
 * Reads what a stored configuration refers to. `states`: those that a run began with, and no others; left out: what is
 * pinned or current now. Throws when one of those states is gone.
 */
export function readTree(site: TreeSite, root: StoredConfig, states?: RecordedStates): Promise<ConfigTree> {
  return new TreeReading(site, states).tree(root, stateKey(root.kind, root.id), []);
}

class TreeReading {
  /** Each state is read once, so that one tree does not mix two. */
  readonly #read = new Map<string, Promise<StoredConfig | undefined>>();
  #places = 0;

  constructor(
    private readonly site: TreeSite,
    private readonly states: RecordedStates | undefined,
  ) {}

  async tree(stored: StoredConfig, key: string, above: readonly string[]): Promise<ConfigTree> {
    const { version, digest, revision, stage, config, name } = stored;
    const path = [...above, key];
    const below = new Map<string, ConfigTree | BuiltComponent>();
    const faults: ConfigFault[] = [];
    const configs: Record<string, ConfigVersion> = { [key]: { version, revision } };
    const keys: string[] = [];
    const references = this.site.references(stored);
    this.#places += references.length;
    if (this.#places > mostPlaces) {
      const message = `has more than ${mostPlaces} components in it.`;
      return { stored, below, faults: [{ path: '', message }], configs, key: '' };
    }
    const meant = await Promise.all(references.map((reference) => this.#meant(reference, stored, path)));
    for (const [at, { path: place, id: named }] of references.entries()) {
      const found = meant[at];
      if (found === undefined) continue;
      if ('message' in found) faults.push({ path: place, message: found.message });
      else {
        below.set(place, found);
        if (!isTree(found)) keys.push(`${place}=${named}`);
        else {
          keys.push(`${place}=${found.key}`);
          faults.push(...found.faults.map((fault) => ({ ...fault, path: within(place, fault.path) })));
          Object.assign(configs, found.configs);
        }
      }
    }
    return {
      stored,
      below,
      faults,
      configs,
      // a draft that is published keeps its revision, and what runs of it is then no preview
      key: `${key}@${version}.${revision} ${digest} ${stage}${config.name == null ? JSON.stringify(name) : ''}(${keys.join(',')})`,
    };
  }

  /** What a reference means; why it cannot mean anything; undefined when there is no such component. */
  async #meant(
    reference: ComponentReference,
    parent: StoredConfig,
    above: readonly string[],
  ): Promise<ConfigTree | BuiltComponent | { readonly message: string } | undefined> {
    const { kind, id, linkKind, linkKey } = reference;
    const pin = parent.pins.find(
      (one) => one.linkKind === linkKind && one.linkKey === linkKey && one.id === id,
    )?.version;
    const key = stateKey(kind, id, pin);
    const code = this.site.code(kind, id);
    const isByCode =
      pin === undefined &&
      (this.states === undefined
        ? linkKind !== 'member' && code !== undefined
        : this.states[key] === undefined);
    if (!isByCode) {
      if (above.includes(key)) return { message: `leads back to itself: ${inWords([...above, key])}.` };
      if (above.length >= mostLevels)
        return { message: `is below more than ${mostLevels} levels: ${inWords([...above, key])}.` };
      const stored = await this.#state(key, kind, id, pin);
      if (stored !== undefined) return this.tree(stored, key, above);
      const state = this.states?.[key];
      if (state !== undefined) throw errors.configGone(kind, id, state.version, state.revision);
      if (pin !== undefined)
        return {
          message: `names version ${pin} of the ${kind} '${id}', which is pinned and does not exist.`,
        };
    }
    if (code instanceof ComponentFactory)
      return {
        message: `names the ${kind} '${id}', which a factory builds for each run: it cannot be used here.`,
      };
    return code;
  }

  #state(key: string, kind: RunKind, id: string, pin: number | undefined): Promise<StoredConfig | undefined> {
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const state = this.states?.[key];
    const { stored } = this.site;
    const reading = state === undefined ? stored.find(kind, id, pin) : stored.at(kind, id, state);
    this.#read.set(key, reading);
    return reading;
  }
}

export function isTree(found: ConfigTree | BuiltComponent): found is ConfigTree {
  return 'stored' in found;
}

export function within(place: string, path: string): string {
  return path === '' ? place : `${place} → ${path}`;
}

/** A way through a tree: `team a → agent b`. */
function inWords(path: readonly string[]): string {
  return path.join(' → ');
}
