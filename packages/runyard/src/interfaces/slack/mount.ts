import type { Services } from '../../capabilities/capability.js';
import { errors } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import { warnOfUnknown } from '../common/unknown-components.js';
import type { Interface } from '../interface.js';
import { installRoutes } from './install.js';
import type { OpenSlack } from './open-slack.js';
import type { SlackConfig } from './options.js';
import { Processing } from './processing.js';
import { slackRoutes } from './routes.js';
import { RunJobs } from './run-jobs.js';
import { type SlackSecrets, slackSecrets } from './secrets.js';
import { SlackCallError } from './web/call-error.js';
import type { Clock } from './web/pace.js';
import { Workspaces } from './workspaces.js';

/** `clock`: what calls of Slack are spaced with. Tests have a faster one. */
export function slackInterface(config: SlackConfig, clock?: Clock): Interface {
  // several services may be open with one defined interface
  const opened = new WeakMap<Services, OpenSlack>();
  const openOf = (services: Services): OpenSlack => {
    const open = opened.get(services);
    if (open === undefined) throw new Error('The interface is not open.');
    return open;
  };
  return {
    name: `slack ${config.prefix}`,
    routes: [...slackRoutes(config, openOf), ...installRoutes(config, openOf)],
    async open(site) {
      const { services, settings, log } = site;
      const secrets = slackSecrets(config);
      const slack = await services.slack();
      const workspaces = new Workspaces(config, secrets, slack, log, clock);
      opened.set(services, { config, secrets, slack, workspaces, log });
      const mostBytes = Math.min(config.maxFileSize, settings.maxUploadBytes);
      const processing = new Processing(new RunJobs({ config, services, slack, workspaces, log, mostBytes }));
      slack.enable(config.prefix, (delivery) => processing.process(delivery));
      let stop = () => {};
      return {
        listed: { type: 'slack', version: '1.0', route: config.prefix },
        start: async () => {
          await warnOfUnknown(site, 'slack()', [config.component]);
          await check(secrets, workspaces, log);
          stop = await startSocketMode(config, secrets, { slack, workspaces, log });
        },
        close: async () => stop(),
      };
    },
  };
}

/** A token that Slack refuses is a fault of the start. While Slack cannot be reached, deliveries wait. */
async function check({ token }: SlackSecrets, workspaces: Workspaces, log: Log): Promise<void> {
  if (token === undefined) return;
  try {
    await workspaces.own(token);
  } catch (error) {
    if (!(error instanceof SlackCallError)) throw error;
    if (!error.retryable)
      throw errors.invalidConfig(
        `slack(): Slack refuses the bot token (auth.test: ${error.code}). Set SLACK_BOT_TOKEN to the Bot User OAuth Token of an installed app (xoxb-…, under OAuth & Permissions).`,
      );
    log.warn({ err: error }, 'Slack cannot be reached; what it delivers is processed later');
  }
}

async function startSocketMode(
  config: SlackConfig,
  { appToken }: SlackSecrets,
  { slack, workspaces, log }: Pick<OpenSlack, 'slack' | 'workspaces' | 'log'>,
): Promise<() => void> {
  if (appToken === undefined) return () => {};
  const { SocketMode } = await import('./socket-mode.js');
  const socketMode = new SocketMode({ config, slack, api: await workspaces.openApi(appToken), log });
  try {
    await socketMode.open();
  } catch (error) {
    if (error instanceof SlackCallError && !error.retryable)
      throw errors.invalidConfig(
        `slack(): Slack refuses socket mode (apps.connections.open: ${error.code}). Turn on Socket Mode for the app, and set SLACK_APP_TOKEN to an App-Level Token with the scope connections:write.`,
      );
    throw error;
  }
  return () => socketMode.close();
}
