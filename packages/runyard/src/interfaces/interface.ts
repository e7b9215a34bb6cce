import type { Described, InfoParts, Services } from '../capabilities/capability.js';
import type { Log } from '../core/log.js';
import type { Identities } from '../platform/auth/identity.js';
import type { Upgrades } from '../platform/http/upgrades.js';
import type { Settings } from '../platform/settings/config.js';

/** A further protocol for the same services, as one value. It has no rules of its own: it calls the services. */
export interface Interface extends Described {
  open?(site: InterfaceSite): OpenInterface | Promise<OpenInterface>;
}

export interface InterfaceSite {
  readonly services: Services;
  readonly identities: Identities;
  readonly settings: Settings;
  readonly log: Log;
}

export interface OpenInterface extends InfoParts {
  /** What its routes call. */
  readonly services?: Partial<Services>;
  /** WebSocket endpoints, by their paths. */
  readonly paths?: Upgrades['paths'];
  /** Called when the service is open. */
  start?(): void | Promise<void>;
  /** Called when no run is executed any longer. Ends the connections that are there. */
  close?(): Promise<void>;
}

/** An interface as an application names it: its options are checked, and nothing of it is loaded yet. */
export class DefinedInterface {
  constructor(
    /** `mcp`, `a2a`, … */
    readonly type: string,
    /** Where it is mounted: no two interfaces have the same place. */
    readonly route: string,
    readonly load: () => Promise<Interface>,
    readonly about: AboutInterface = {},
  ) {}

  /** The protocol as people call it. */
  get title(): string {
    return this.about.title ?? this.type.toUpperCase();
  }
}

export interface AboutInterface {
  /** Default: the type in capitals. */
  readonly title?: string;
  /** For clients that find nothing at a path of the interface: which address they need. */
  readonly hint?: string;
  /** Paths elsewhere at which clients with a wrong address look for the interface. */
  readonly soughtAt?: readonly string[];
  /** The option that mounts something at a path of the whole service, and that path: one interface may have it. */
  readonly atRoot?: { readonly option: string; readonly path: string } | undefined;
}

/** A setting that enables an interface with its defaults, for applications that define none of this type themselves. */
export interface InterfaceSwitch {
  isOn(settings: Settings): boolean;
  define(settings: Settings): DefinedInterface;
}
