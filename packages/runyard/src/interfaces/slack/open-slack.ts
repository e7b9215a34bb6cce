import type { SlackService } from '../../capabilities/slack/service.js';
import type { Log } from '../../core/log.js';
import type { SlackConfig } from './options.js';
import type { SlackSecrets } from './secrets.js';
import type { Workspaces } from './workspaces.js';

/** The interface in one open service. */
export interface OpenSlack {
  readonly config: SlackConfig;
  readonly secrets: SlackSecrets;
  readonly slack: SlackService;
  readonly workspaces: Workspaces;
  readonly log: Log;
}
