import { errors } from '../../core/errors/errors.js';
import { checkOptions } from '../../core/options/check-options.js';
import type { Kind } from '../../core/options/kind.js';
import {
  anyOf,
  callable,
  count,
  flag,
  kind,
  listOf,
  name,
  objectOf,
  required,
  secret,
  text,
  word,
} from '../../core/options/kinds.js';
import {
  type ComponentName,
  componentName,
  type OneComponent,
  oneComponentOptions,
  prefixOf,
} from '../common/exposed-components.js';

export interface SlackOptions extends OneComponent {
  /** The path of the interface. Default: `/slack`. */
  readonly prefix?: string;
  /** The bot token (`xoxb-…`). Default: `SLACK_BOT_TOKEN`, or `SLACK_TOKEN`, of the environment. */
  readonly token?: string;
  /** What Slack signs its requests with. Default: `SLACK_SIGNING_SECRET` of the environment. */
  readonly signingSecret?: string;
  /** Turns on socket mode: the app token (`xapp-…`). Default: `SLACK_APP_TOKEN` of the environment. */
  readonly appToken?: string;
  /** Lets several workspaces install the app. It takes the place of `token`. */
  readonly oauth?: SlackOAuthOptions;
  /** Whether only mentions are answered in channels. Default: true. Direct messages are always answered. */
  readonly replyToMentionsOnly?: boolean;
  /** Whether messages of other apps are answered. Default: false. */
  readonly respondToOtherApps?: boolean;
  /** Whether answers appear as they are written. Default: true. */
  readonly streaming?: boolean;
  /** The status while a run works. Default: `Thinking...`. */
  readonly loadingText?: string;
  /** Texts that Slack shows in turn instead of the status. */
  readonly loadingMessages?: readonly string[];
  /** How tool calls are shown: as a plan or one after the other. Default: `plan`. */
  readonly taskDisplayMode?: 'plan' | 'timeline';
  /** What the assistant pane suggests when it is opened. */
  readonly suggestedPrompts?: readonly SuggestedPrompt[];
  /** How many characters of an answer are sent at once, at least. Default: 100. */
  readonly bufferSize?: number;
  /** The largest file of a message that a run is given, in bytes. Default: 1 GiB, and never more than `maxUploadBytes`. */
  readonly maxFileSize?: number;
  /** Whether the user id of a run is the person's e-mail address. Default: false. It needs `users:read.email`. */
  readonly resolveUserIdentity?: boolean;
  /**
   * Who may answer a paused run with the buttons of its message. Default: `asker`, the person whose message began the
   * run. A list names users by their ids (`U…`).
   */
  readonly approvers?: 'asker' | 'anyone' | readonly string[] | IsApprover;
  /** Messages that cancel the run in progress of their thread. Default: `stop` and `cancel`. Empty: none. */
  readonly cancelWords?: readonly string[];
  /** Where Slack's Web API is, for tests and proxies. Default: `https://slack.com/api/`. */
  readonly apiUrl?: string;
}

export interface SuggestedPrompt {
  readonly title: string;
  readonly message: string;
}

/** Whether a person may answer what a run waits for. */
export type IsApprover = (press: SlackPress) => boolean | Promise<boolean>;

export interface SlackPress {
  readonly userId: string;
  readonly teamId: string;
  readonly channel: string;
  readonly runId: string;
  /** Whose message began the run. */
  readonly askerId: string;
}

export interface SlackOAuthOptions {
  /** Default: `SLACK_CLIENT_ID` of the environment. */
  readonly clientId?: string;
  /** Default: `SLACK_CLIENT_SECRET` of the environment. */
  readonly clientSecret?: string;
  /** Encrypts the tokens in the database: 32 characters or more. Default: `SLACK_ENCRYPTION_SECRET` of the environment. */
  readonly encryptionSecret?: string;
  /** The bot scopes that the app asks for. Default: those that the interface needs. */
  readonly scopes?: readonly string[];
  /** The workspaces (`T…`) and organisations (`E…`) that may install the app. Default: all that Slack lets install it. */
  readonly teams?: readonly string[];
  /** The address of the service, such as `https://agents.example.com`. Default: the address that the browser used. */
  readonly publicUrl?: string;
}

/** What one mounted interface does. */
export interface SlackConfig {
  readonly prefix: string;
  readonly component: ComponentName;
  readonly given: Pick<SlackOptions, 'token' | 'signingSecret' | 'appToken'>;
  readonly oauth: SlackOAuthOptions | undefined;
  readonly replyToMentionsOnly: boolean;
  readonly respondToOtherApps: boolean;
  readonly streaming: boolean;
  readonly loadingText: string;
  readonly loadingMessages: readonly string[] | undefined;
  readonly taskDisplayMode: 'plan' | 'timeline';
  readonly suggestedPrompts: readonly SuggestedPrompt[];
  readonly bufferSize: number;
  readonly maxFileSize: number;
  readonly resolveUserIdentity: boolean;
  readonly approvers: NonNullable<SlackOptions['approvers']>;
  readonly cancelWords: readonly string[];
  readonly apiUrl: string | undefined;
}

const owner = 'slack()';
const gibibyte = 2 ** 30;
const mostPrompts = 4;

const shortText = kind(
  'a text of 1 to 200 characters',
  (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 200,
);
const address = kind('an address such as https://agents.example.com, without query and fragment', (value) => {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, search, hash, username } = new URL(value);
  return /^https?:$/.test(protocol) && search === '' && hash === '' && username === '';
});
const longSecret: Kind & { readonly required?: never } = {
  ...kind(
    'a text of 32 to 1000 characters',
    (value) => typeof value === 'string' && value.trim().length >= 32 && value.length <= 1000,
  ),
  secret: true,
};

const slackOptions = objectOf<SlackOptions>({
  ...oneComponentOptions,
  prefix: prefixOf('/slack'),
  token: secret,
  signingSecret: secret,
  appToken: secret,
  oauth: objectOf<SlackOAuthOptions>({
    clientId: name,
    clientSecret: secret,
    encryptionSecret: longSecret,
    scopes: listOf(name, 1),
    teams: listOf(name, 1),
    publicUrl: address,
  }),
  replyToMentionsOnly: flag,
  respondToOtherApps: flag,
  streaming: flag,
  loadingText: shortText,
  loadingMessages: listOf(shortText),
  taskDisplayMode: word('plan', 'timeline'),
  suggestedPrompts: listOf(
    objectOf<SuggestedPrompt>({ title: required(shortText), message: required(text) }),
  ),
  bufferSize: count(1, 10_000),
  maxFileSize: count(0, gibibyte),
  resolveUserIdentity: flag,
  approvers: anyOf(word('asker', 'anyone'), listOf(name), callable),
  cancelWords: listOf(shortText),
  apiUrl: address,
});

export function readSlackOptions(given: SlackOptions): SlackConfig {
  checkOptions(owner, given, slackOptions);
  const options = slackOptions.plain(given);
  const { suggestedPrompts = [], loadingMessages } = options;
  if (suggestedPrompts.length > mostPrompts)
    throw errors.invalidConfig(`${owner}: suggestedPrompts has more than ${mostPrompts}, which Slack shows.`);
  if ((loadingMessages?.length ?? 0) > 10)
    throw errors.invalidConfig(`${owner}: loadingMessages has more than 10, which Slack shows.`);
  if (options.oauth !== undefined && options.token !== undefined)
    throw errors.invalidConfig(
      `${owner}: token is that of one workspace, and with oauth each has its own. Leave one out.`,
    );
  const { token, signingSecret, appToken } = options;
  return {
    prefix: options.prefix ?? '/slack',
    component: componentName(owner, options),
    given: {
      ...(token !== undefined && { token }),
      ...(signingSecret !== undefined && { signingSecret }),
      ...(appToken !== undefined && { appToken }),
    },
    oauth: options.oauth,
    replyToMentionsOnly: options.replyToMentionsOnly ?? true,
    respondToOtherApps: options.respondToOtherApps ?? false,
    streaming: options.streaming ?? true,
    loadingText: options.loadingText ?? 'Thinking...',
    loadingMessages,
    taskDisplayMode: options.taskDisplayMode ?? 'plan',
    suggestedPrompts,
    bufferSize: options.bufferSize ?? 100,
    maxFileSize: options.maxFileSize ?? gibibyte,
    resolveUserIdentity: options.resolveUserIdentity ?? false,
    approvers: options.approvers ?? 'asker',
    cancelWords: (options.cancelWords ?? ['stop', 'cancel']).map((one) => one.trim().toLowerCase()),
    apiUrl: options.apiUrl,
  };
}
