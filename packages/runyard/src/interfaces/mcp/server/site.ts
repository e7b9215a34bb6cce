import type { Services } from '../../../capabilities/capability.js';
import type { Log } from '../../../core/log.js';
import type { Settings } from '../../../platform/settings/config.js';
import type { McpConfig } from '../options.js';

/** What the handlers work with. One for each service. */
export interface McpSite {
  readonly services: Services;
  readonly settings: Settings;
  readonly config: McpConfig;
  readonly log: Log;
}
