import { warnOfUnknown } from '../common/unknown-components.js';
import type { Interface } from '../interface.js';
import type { AguiConfig } from './options.js';
import { aguiRoutes } from './routes.js';

/** The interface at one place. */
export function aguiInterface(config: AguiConfig): Interface {
  const { prefix, named } = config;
  return {
    name: `agui ${prefix}`,
    routes: aguiRoutes(config),
    open: (site) => ({
      listed: { type: 'agui', version: '1.0', route: prefix },
      start: () => warnOfUnknown(site, 'agui()', named),
    }),
  };
}
