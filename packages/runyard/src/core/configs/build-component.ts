import { errors } from '../errors/errors.js';
import type { RunKind } from '../runs/run.js';
import { checkConfig } from './check-config.js';
import type { BuiltComponent, ComponentConfig, ConfigFault, ConfigSite } from './component-config.js';
import { languageOf } from './languages.js';
import { readConfig } from './read-config.js';

/**
 * Builds the component that a configuration describes, under this id. Throws one error with all faults. What is built is
 * attached to no space yet.
 */
export function buildComponent(
  kind: RunKind,
  id: string,
  config: ComponentConfig,
  site: ConfigSite,
): BuiltComponent {
  const refuse = (faults: readonly ConfigFault[]): void => {
    if (faults.length > 0) throw errors.invalidComponentConfig(kind, id, faults);
  };
  refuse(checkConfig(kind, config));
  const { settings, faults, reading } = readConfig(kind, config, site);
  refuse(faults);
  const component = reading.made(() => languageOf(kind).make(id, settings));
  refuse(faults);
  // it is undefined only where making it was a fault
  return component as BuiltComponent;
}
