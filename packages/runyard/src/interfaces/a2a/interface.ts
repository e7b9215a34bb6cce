import { DefinedInterface } from '../interface.js';
import { type A2aOptions, readA2aOptions } from './options.js';

export type { A2aOptions, PushNotificationOptions } from './options.js';

const card = '/.well-known/agent-card.json';

/**
 * Agents, teams and workflows for clients of the Agent2Agent protocol (A2A). The setting `a2a` enables the same with its
 * defaults.
 */
export function a2a(options: A2aOptions = {}): DefinedInterface {
  const config = readA2aOptions(options);
  const { prefix, defaultComponent } = config;
  return new DefinedInterface('a2a', prefix, async () => (await import('./mount.js')).a2aInterface(config), {
    hint: `Give A2A clients the address of a component, with a slash at its end: ${prefix}/agents/{id}/, ${prefix}/teams/{id}/ or ${prefix}/workflows/{id}/.`,
    soughtAt: [card],
    atRoot: defaultComponent && { option: 'defaultComponent', path: card },
  });
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = a2a();

export function enabledA2a(): DefinedInterface {
  return enabled;
}
