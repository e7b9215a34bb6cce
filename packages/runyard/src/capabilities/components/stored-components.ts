import type { ComponentConfig } from '../../core/configs/component-config.js';
import type { Json } from '../../core/json.js';
import type { ConfigVersion, RunKind } from '../../core/runs/run.js';

/** A state of a stored component that can be built and run. */
export interface StoredConfig extends ConfigVersion {
  readonly kind: RunKind;
  readonly id: string;
  /** The name of the component: that of the configuration comes first. */
  readonly name: string;
  readonly stage: 'draft' | 'published';
  readonly config: ComponentConfig;
  /** Of what it holds: after a downgrade that deleted a component, another one may have its id and numbers. */
  readonly digest: string;
  /** Versions of other components that this one pins. */
  readonly pins: readonly Pin[];
}

/** A version of a component that a reference means, by the kind and the key of the link. */
export interface Pin {
  readonly linkKind: string;
  readonly linkKey: string;
  /** The component. A reference to another one is not pinned by it. */
  readonly id: string;
  readonly version: number;
}

/** What a component is called: as its configuration says, or else as the component is. */
export function nameOf({ id, name, config }: StoredConfig): Json {
  return config.name ?? (name === '' ? id : name);
}

/** What runs need to know of stored components. Nothing of it changes with the caller: rights are checked before. */
export interface StoredComponents {
  /** The given version, or else the current one, or else the newest draft; undefined when there is none. */
  find(kind: RunKind, id: string, version?: number): Promise<StoredConfig | undefined>;
  /** The state that a run began with. */
  at(kind: RunKind, id: string, state: ConfigVersion): Promise<StoredConfig | undefined>;
  /** The ids of those that are not deleted, in the order of their creation: the first of many. */
  ids(kind: RunKind): Promise<readonly string[]>;
  /** All that are not deleted, in the order of their creation, a page at a time. */
  pages(kind: RunKind): AsyncIterable<readonly StoredConfig[]>;
  /** All of them by `componentKey`: whose runs this process can take over. Asked twice a second: no configuration is read. */
  keys(): Promise<readonly string[]>;
}
