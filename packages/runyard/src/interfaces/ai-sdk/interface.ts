import { DefinedInterface } from '../interface.js';
import { type AiSdkOptions, readAiSdkOptions } from './options.js';

export type { AiSdkOptions } from './options.js';

/** A chat for `useChat` of the AI SDK with its default transport. The setting `aiSdk` enables it for all components. */
export function aiSdk(options: AiSdkOptions = {}): DefinedInterface {
  const config = readAiSdkOptions(options);
  const { path, component } = config;
  const paths = component
    ? `the path ${path}`
    : `the path of a component: ${path}/agents/{id}, ${path}/teams/{id} or ${path}/workflows/{id}`;
  return new DefinedInterface(
    'aiSdk',
    path,
    async () => (await import('./mount.js')).aiSdkInterface(config),
    {
      title: 'AI SDK',
      hint: `Give useChat ${paths}.`,
    },
  );
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = aiSdk();

export function enabledAiSdk(): DefinedInterface {
  return enabled;
}
