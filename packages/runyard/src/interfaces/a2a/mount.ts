import type { Interface } from '../interface.js';
import type { Operations } from './call.js';
import { operations } from './operations.js';
import type { A2aConfig } from './options.js';
import { a2aRoutes } from './routes.js';

/** The interface at one place. Cards and push notifications add their routes and operations here. */
export async function a2aInterface(config: A2aConfig): Promise<Interface> {
  const all: Operations = { ...operations };
  return {
    name: `a2a ${config.prefix}`,
    routes: a2aRoutes(config, all),
    open: () => ({ listed: { type: 'a2a', version: '1.0', route: config.prefix } }),
  };
}
