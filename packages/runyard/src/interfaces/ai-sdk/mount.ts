import type { Interface } from '../interface.js';
import type { AiSdkConfig } from './options.js';
import { aiSdkRoutes } from './routes.js';

/** The interface at one place. */
export function aiSdkInterface(config: AiSdkConfig): Interface {
  return {
    name: `ai-sdk ${config.path}`,
    routes: aiSdkRoutes(config),
    open: () => ({ listed: { type: 'aiSdk', version: 'v1', route: config.path } }),
  };
}
