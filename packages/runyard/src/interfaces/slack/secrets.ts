import { errors } from '../../core/errors/errors.js';
import type { SlackConfig } from './options.js';

/** What the operator gave in code or in the environment of this start. */
export interface SlackSecrets {
  /** Undefined with `oauth`. */
  readonly token: string | undefined;
  readonly signingSecret: string | undefined;
  readonly appToken: string | undefined;
  readonly oauth: OAuthSecrets | undefined;
}

export interface OAuthSecrets {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly encryptionSecret: string;
}

/** Throws a text that says what to set; it never shows a secret. */
export function slackSecrets({ given, oauth }: SlackConfig, environment = process.env): SlackSecrets {
  const inEnvironment = (key: string) => environment[key] || undefined;
  const token =
    given.token ?? (oauth ? undefined : (inEnvironment('SLACK_BOT_TOKEN') ?? inEnvironment('SLACK_TOKEN')));
  const signingSecret = (given.signingSecret || undefined) ?? inEnvironment('SLACK_SIGNING_SECRET');
  const appToken = (given.appToken || undefined) ?? inEnvironment('SLACK_APP_TOKEN');
  if (oauth === undefined && token === undefined)
    throw errors.invalidConfig(
      'slack() has no bot token. Set SLACK_BOT_TOKEN to the Bot User OAuth Token of the app (xoxb-…), or use oauth.',
    );
  if (token?.startsWith('xapp-'))
    throw errors.invalidConfig(
      'slack(): the bot token is an app token (xapp-…). Set SLACK_BOT_TOKEN to the Bot User OAuth Token of the app (xoxb-…), and SLACK_APP_TOKEN to the app token.',
    );
  if (signingSecret === undefined && appToken === undefined)
    throw errors.invalidConfig(
      'slack() cannot receive anything. Set SLACK_SIGNING_SECRET to the Signing Secret of the app, or SLACK_APP_TOKEN (xapp-…) for socket mode.',
    );
  if (appToken !== undefined && !appToken.startsWith('xapp-'))
    throw errors.invalidConfig(
      'slack(): the app token does not begin with xapp-. Set SLACK_APP_TOKEN to an App-Level Token of the app with the scope connections:write.',
    );
  if (oauth === undefined) return { token, signingSecret, appToken, oauth: undefined };
  const of = (value: string | undefined, key: string, what: string): string => {
    const found = value ?? inEnvironment(key);
    if (found === undefined) throw errors.invalidConfig(`slack(): oauth has no ${what}. Set ${key}.`);
    return found;
  };
  const encryptionSecret = of(
    oauth.encryptionSecret,
    'SLACK_ENCRYPTION_SECRET',
    'secret that encrypts tokens',
  );
  if (encryptionSecret.trim().length < 32)
    throw errors.invalidConfig(
      'slack(): SLACK_ENCRYPTION_SECRET is too short. Set it to the output of: openssl rand -hex 32',
    );
  return {
    token,
    signingSecret,
    appToken,
    oauth: {
      clientId: of(oauth.clientId, 'SLACK_CLIENT_ID', 'client id'),
      clientSecret: of(oauth.clientSecret, 'SLACK_CLIENT_SECRET', 'client secret'),
      encryptionSecret,
    },
  };
}
