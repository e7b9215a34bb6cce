import { warnOfUnknown } from '../common/unknown-components.js';
import type { Interface } from '../interface.js';
import { absentRoutes } from './absent-routes.js';
import { chatRoutes } from './chat/chat-routes.js';
import { modelRoutes } from './model-routes.js';
import type { OpenaiConfig } from './options.js';
import { responseRoutes } from './responses/routes.js';
import { openaiRoutes } from './routes.js';

/** The interface at one place. */
export async function openaiInterface(config: OpenaiConfig): Promise<Interface> {
  const { prefix, named } = config;
  return {
    name: `openai ${prefix}`,
    routes: openaiRoutes(config, [...modelRoutes, ...chatRoutes, ...responseRoutes, ...absentRoutes]),
    open: (site) => ({
      listed: { type: 'openai', version: '1.0', route: prefix },
      start: () => warnOfUnknown(site, 'openaiApi()', named),
    }),
  };
}
