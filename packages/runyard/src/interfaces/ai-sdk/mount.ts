import { warnOfUnknown } from '../common/unknown-components.js';
import type { Interface } from '../interface.js';
import type { AiSdkConfig } from './options.js';
import { aiSdkRoutes } from './routes.js';

/** The interface at one place. */
export function aiSdkInterface(config: AiSdkConfig): Interface {
  const { path, component } = config;
  return {
    name: `ai-sdk ${path}`,
    routes: aiSdkRoutes(config),
    open: (site) => ({
      listed: { type: 'aiSdk', version: '1.0', route: path },
      start: () => warnOfUnknown(site, 'aiSdk()', component ? [component] : []),
    }),
  };
}
