import { DefinedInterface } from '../interface.js';
import { type A2aOptions, readA2aOptions } from './options.js';

export type { A2aOptions, PushNotificationOptions } from './options.js';

/**
 * Agents, teams and workflows for clients of the Agent2Agent protocol (A2A). The setting `a2a` enables the same with its
 * defaults.
 */
export function a2a(options: A2aOptions = {}): DefinedInterface {
  const config = readA2aOptions(options);
  return new DefinedInterface(
    'a2a',
    config.prefix,
    async () => (await import('./mount.js')).a2aInterface(config),
    config.defaultComponent && { option: 'defaultComponent', path: '/.well-known/agent-card.json' },
  );
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = a2a();

export function enabledA2a(): DefinedInterface {
  return enabled;
}
