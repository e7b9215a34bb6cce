import type { Described, Services, Told } from '../capabilities/capability.js';
import type { Log } from '../core/log.js';
import type { Identities } from '../platform/auth/identity.js';
import type { Settings } from '../platform/config.js';
import type { Upgrades } from '../platform/http/upgrades.js';

/** A further way in, as one value. It has no rules of its own: it calls the services. */
export interface Interface extends Described {
  open?(site: InterfaceSite): OpenInterface | Promise<OpenInterface>;
}

export interface InterfaceSite {
  readonly services: Services;
  readonly identities: Identities;
  readonly settings: Settings;
  readonly log: Log;
}

export interface OpenInterface extends Told {
  /** WebSocket endpoints, by their paths. */
  readonly paths?: Upgrades['paths'];
  /** Called when the service is open. */
  start?(): void | Promise<void>;
  /** Called when no run is executed any longer. Ends the connections that are there. */
  close?(): Promise<void>;
}

/** A line of the list: what is not wanted is not loaded. */
export interface InterfaceEntry {
  isWanted(settings: Settings): boolean;
  load(): Promise<Interface>;
}

export function loadInterfaces(
  entries: readonly InterfaceEntry[],
  settings: Settings,
): Promise<readonly Interface[]> {
  return Promise.all(entries.filter(({ isWanted }) => isWanted(settings)).map(({ load }) => load()));
}
