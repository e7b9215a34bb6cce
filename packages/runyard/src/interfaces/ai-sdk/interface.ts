import { DefinedInterface } from '../interface.js';
import { type AiSdkOptions, readAiSdkOptions } from './options.js';

export type { AiSdkOptions } from './options.js';

/** A chat for `useChat` of the AI SDK with its default transport. The setting `aiSdk` enables it for all components. */
export function aiSdk(options: AiSdkOptions = {}): DefinedInterface {
  const config = readAiSdkOptions(options);
  return new DefinedInterface('aiSdk', config.path, async () =>
    (await import('./mount.js')).aiSdkInterface(config),
  );
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = aiSdk();

export function enabledAiSdk(): DefinedInterface {
  return enabled;
}
