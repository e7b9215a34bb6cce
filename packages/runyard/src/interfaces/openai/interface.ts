import { DefinedInterface } from '../interface.js';
import { type OpenaiApiOptions, readOpenaiOptions } from './options.js';

export type { OpenaiApiOptions } from './options.js';

/**
 * Agents, teams and workflows as models for clients of the OpenAI API. The setting `openai` enables the same with its
 * defaults.
 */
export function openaiApi(options: OpenaiApiOptions = {}): DefinedInterface {
  const config = readOpenaiOptions(options);
  const { prefix } = config;
  return new DefinedInterface(
    'openai',
    prefix,
    async () => (await import('./mount.js')).openaiInterface(config),
    {
      title: 'OpenAI',
      hint: `The base URL of OpenAI clients is the address of the service with ${prefix}. Agents, teams and workflows answer chat completions and responses.`,
      soughtAt: ['/chat/completions', '/completions', '/embeddings', '/responses'],
    },
  );
}

/** What the setting adds: the same value for every service, whose routes are then described once. */
const enabled = openaiApi();

export function enabledOpenai(): DefinedInterface {
  return enabled;
}
