import { DefinedInterface } from '../interface.js';
import { readSlackOptions, type SlackOptions } from './options.js';

export type {
  IsApprover,
  SlackOAuthOptions,
  SlackOptions,
  SlackPress,
  SuggestedPrompt,
} from './options.js';

/** An agent, a team or a workflow in Slack: mentions, direct messages and the assistant pane. */
export function slack(options: SlackOptions): DefinedInterface {
  const config = readSlackOptions(options);
  const { prefix, oauth } = config;
  const paths = `Slack sends events to ${prefix}/events and interactions to ${prefix}/interactions.`;
  return new DefinedInterface(
    'slack',
    prefix,
    async () => (await import('./mount.js')).slackInterface(config),
    {
      title: 'Slack',
      hint: oauth ? paths : `${paths} ${prefix}/install needs the option oauth.`,
    },
  );
}
