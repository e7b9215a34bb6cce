import type { Interface } from '../interface.js';
import type { AguiConfig } from './options.js';
import { aguiRoutes } from './routes.js';

/** The interface at one place. */
export function aguiInterface(config: AguiConfig): Interface {
  const { prefix } = config;
  return {
    name: `agui ${prefix}`,
    routes: aguiRoutes(config),
    open: () => ({ listed: { type: 'agui', version: '1.0', route: prefix } }),
  };
}
