import { DefinedInterface } from '../interface.js';
import { type AguiOptions, readAguiOptions } from './options.js';

export type { AguiOptions } from './options.js';

/**
 * Agents, teams and workflows for front ends that speak the Agent-User Interaction protocol (AG-UI). The setting `agui`
 * enables the same with its defaults.
 */
export function agui(options: AguiOptions = {}): DefinedInterface {
  const config = readAguiOptions(options);
  return new DefinedInterface('agui', `${config.prefix}/agui`, async () =>
    (await import('./mount.js')).aguiInterface(config),
  );
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = agui();

export function enabledAgui(): DefinedInterface {
  return enabled;
}
