import { DefinedInterface } from '../interface.js';
import { type AguiOptions, readAguiOptions } from './options.js';

export type { AguiOptions } from './options.js';

/**
 * Agents, teams and workflows for front ends that speak the Agent-User Interaction protocol (AG-UI). The setting `agui`
 * enables the same with its defaults.
 */
export function agui(options: AguiOptions = {}): DefinedInterface {
  const config = readAguiOptions(options);
  const route = `${config.prefix}/agui`;
  const addresses = config.only
    ? route
    : `the address of a component: ${route}/agents/{id}, ${route}/teams/{id} or ${route}/workflows/{id}`;
  return new DefinedInterface('agui', route, async () => (await import('./mount.js')).aguiInterface(config), {
    title: 'AG-UI',
    hint: `AG-UI clients post to ${addresses}.`,
  });
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = agui();

export function enabledAgui(): DefinedInterface {
  return enabled;
}
