import type { JsonObject } from '../../json.js';
import type { Flow, Place, Scope } from '../execution/flow.js';

/** Where in the journal the parts of a function are. */
export interface FunctionSite {
  readonly flow: Flow;
  readonly place: Place;
  readonly scope: Scope;
  /** What the function belongs to, as messages and requirements name it. */
  readonly name: string;
  /** The step whose work the function is. */
  readonly parentKey: string;
  /** What the keys of the runs and of the waits of the function begin with. */
  readonly runPrefix: string;
  readonly waitPrefix: string;
  /** What the events of a run in the function carry. */
  runFields(name: string): JsonObject;
}

/** Where a wait of a function is in the journal. */
export interface WaitPlace {
  /** The part of its key after that of the node. */
  readonly what: string;
  /** As the function gave it. */
  readonly name: string | undefined;
  /** Notes that the function waits under this key. */
  asked(key: string): void;
}
