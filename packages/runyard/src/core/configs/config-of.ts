import { errors } from '../errors/errors.js';
import type { Registry } from '../registry/registry.js';
import { isRemote } from '../remote/remote-component.js';
import { storableCopy } from '../storable-json.js';
import { checkConfig } from './check-config.js';
import type { BuiltComponent, ComponentConfig, ConfigFault } from './component-config.js';
import { writeForm } from './config-keys.js';
import { languageOf } from './languages.js';
import { Writing } from './writing.js';

/**
 * The configuration that a component of the code is built from again. Throws one error with every place that a
 * configuration cannot hold, such as a function without a name, and with every secret.
 */
export function configOf(component: BuiltComponent, registry: Registry): ComponentConfig {
  const { kind, id } = component;
  const faults: ConfigFault[] = [];
  if (isRemote(component)) throw errors.remoteNotConfig(kind, id);
  const { form, settingsOf } = languageOf(kind);
  const written = writeForm(form, settingsOf(component), new Writing(registry, faults));
  // a copy: what becomes of the configuration leaves the settings of the component alone
  const config = storableCopy(written, `The config of ${kind} '${id}'`);
  if (faults.length === 0) faults.push(...checkConfig(kind, config));
  if (faults.length > 0) throw errors.invalidComponentConfig(kind, id, faults);
  return config;
}
