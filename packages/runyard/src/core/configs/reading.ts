import { thrownError } from '../errors/thrown-error.js';
import type { Json } from '../json.js';
import { nearestName } from '../nearest-name.js';
import { check, shown } from '../options/faults.js';
import type { Kind } from '../options/kind.js';
import type { BuiltComponent, ComponentReference, ConfigFault, ConfigSite } from './component-config.js';

/** What one pass over a configuration finds. */
export interface Found {
  readonly faults: ConfigFault[];
  readonly references: ComponentReference[];
  /** Left out: nothing is looked up, and nothing is built. */
  readonly site?: ConfigSite;
  /** How many steps there are so far. */
  steps: number;
}

/** Where a step is. */
export interface Branch {
  /** How many lists of steps are around it. */
  readonly depth: number;
  /** `#else` for each other branch of a condition around it. */
  readonly elses: string;
}

/** A place in a configuration that is being read. */
export class Reading {
  constructor(
    readonly found: Found,
    readonly path = '',
    readonly branch: Branch = { depth: 0, elses: '' },
  ) {}

  within(key: string, index?: number): Reading {
    return new Reading(this.found, pathWithin(this.path, key, index), this.branch);
  }

  /** An entry of the list that is here. */
  entry(index: number): Reading {
    return new Reading(this.found, `${this.path}[${index}]`, this.branch);
  }

  in(branch: Branch): Reading {
    return new Reading(this.found, this.path, branch);
  }

  get site(): ConfigSite | undefined {
    return this.found.site;
  }

  fault(message: string): undefined {
    this.found.faults.push({ path: this.path, message });
    return undefined;
  }

  /** Refuses a key that does not exist. `of` as in `an agent`. */
  unknownKey(key: string, of: string, known: readonly string[]): void {
    const near = this.found.faults.length < mostGuesses ? nearestName(key, known) : undefined;
    this.within(key).fault(`is not a key of ${of}.${near === undefined ? '' : ` Did you mean ${near}?`}`);
  }

  /** The value, if it is of this kind. */
  checked(kind: Kind, value: Json): Json | undefined {
    const faults: string[] = [];
    check(kind, value, '', faults);
    for (const fault of faults) this.fault(fault.trimStart());
    return faults.length === 0 ? value : undefined;
  }

  list(value: Json, most: number): readonly Json[] | undefined {
    if (!Array.isArray(value)) return this.fault(`is ${shown(value)}. Give a list.`);
    if (value.length > most) return this.fault(`has ${value.length} entries. At most ${most} are allowed.`);
    return value;
  }

  /** What a reference names. */
  component(reference: Omit<ComponentReference, 'path'>): BuiltComponent | undefined {
    const { found, path } = this;
    const named = { ...reference, path };
    found.references.push(named);
    if (found.site === undefined) return undefined;
    return (
      found.site.component(named) ??
      this.fault(`names the ${named.kind} '${named.id}', which does not exist.`)
    );
  }

  /** What a function of the code makes of faultless settings. It refuses what no single key shows. */
  made<Made>(make: () => Made): Made | undefined {
    try {
      return make();
    } catch (error) {
      return this.fault(`is invalid: ${thrownError(error).message}`);
    }
  }
}

const longestKey = 100;
/** More faults are not looked at for what was meant: a configuration may consist of them. */
const mostGuesses = 50;

/** `tools[0].name` */
export function pathWithin(path: string, key: string, index?: number): string {
  const shown = key.length > longestKey ? `${key.slice(0, longestKey)}…` : key;
  const whole = path === '' ? shown : `${path}.${shown}`;
  return index === undefined ? whole : `${whole}[${index}]`;
}
