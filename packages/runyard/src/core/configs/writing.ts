import type { Registry } from '../registry/registry.js';
import type { ConfigFault } from './component-config.js';
import { pathWithin } from './reading.js';

/** A place in a configuration that is being written from a component of the code. */
export class Writing {
  constructor(
    readonly registry: Registry,
    readonly faults: ConfigFault[],
    readonly path = '',
  ) {}

  within(key: string, index?: number): Writing {
    return new Writing(this.registry, this.faults, pathWithin(this.path, key, index));
  }

  /** An entry of the list that is here. */
  entry(index: number): Writing {
    return new Writing(this.registry, this.faults, `${this.path}[${index}]`);
  }

  /** Notes what a configuration cannot hold. */
  fault(message: string): undefined {
    this.faults.push({ path: this.path, message });
    return undefined;
  }
}
