import { DefinedInterface } from '../../../src/interfaces/interface.js';
import { slackInterface } from '../../../src/interfaces/slack/mount.js';
import { readSlackOptions, type SlackOptions } from '../../../src/interfaces/slack/options.js';
import type { Clock } from '../../../src/interfaces/slack/web/pace.js';
import { pause } from '../../../src/interfaces/slack/web/waiting.js';
import type { SlackDouble } from './slack-double.js';

const faster = 100;

/** A minute of Slack's limits passes in 0.6 s. */
const fastClock: Clock = {
  now: () => performance.now() * faster,
  sleep: (ms, signal) => pause(ms / faster, signal),
};

/** The interface as an application defines it. Its calls are spaced as they are for Slack, on a faster clock. */
export function fastSlack(options: SlackOptions): DefinedInterface {
  const config = readSlackOptions(options);
  return new DefinedInterface('slack', config.prefix, async () => slackInterface(config, fastClock));
}

/** The double counts on an even faster clock: calls may arrive closer together than they were sent. */
export function hasten(double: SlackDouble): SlackDouble {
  double.now = () => performance.now() * 2 * faster;
  return double;
}
