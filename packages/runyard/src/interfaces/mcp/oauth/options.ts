import { errors } from '../../../core/errors/errors.js';
import type { Kind, Shape } from '../../../core/options/kind.js';
import { kind, listOf, objectOf } from '../../../core/options/kinds.js';
import { parseScope } from '../../../platform/auth/rights.js';
import type { Settings } from '../../../platform/settings/config.js';

/** The authorization server for `/mcp`. Secrets may also come from settings, which win. */
export interface McpOAuthOptions {
  /** What a person enters to connect a client: 16 characters or more. The setting `mcpOauthSecret` is the same. */
  readonly secret?: string;
  /** Signs the access tokens: 32 characters or more. The setting `mcpOauthSigningKey` is the same. */
  readonly signingKey?: string;
  /** What clients are granted; running components and reading sessions and the configuration when left out. */
  readonly scopes?: readonly string[];
}

const secretOf = (least: number): Kind & { readonly required?: never } => ({
  ...kind(
    `a text of ${least} to 1000 characters`,
    (value) => typeof value === 'string' && value.trim().length >= least && value.length <= 1000,
  ),
  secret: true,
});

const scope = kind(
  'a scope such as agents:run',
  (value) => typeof value === 'string' && /^[!-~]{1,200}$/.test(value) && parseScope(value) !== undefined,
);

const shape: Shape<McpOAuthOptions> = {
  secret: secretOf(16),
  signingKey: secretOf(32),
  scopes: listOf(scope, 1),
};

/** The kind of the option `oauth` of `mcp()`. */
export const oauthOptions = objectOf<McpOAuthOptions>(shape);

const usualScopes = ['agents:run', 'teams:run', 'workflows:run', 'sessions:read', 'config:read'];

export interface OauthConfig {
  readonly secret: string;
  readonly signingKey: string;
  readonly scopes: readonly string[];
}

/** What the options and the settings say together. Throws a text that says what to do; it never shows a secret. */
export function oauthConfig(options: McpOAuthOptions, settings: Settings): OauthConfig {
  const secret = settings.mcpOauthSecret ?? options.secret;
  const signingKey = settings.mcpOauthSigningKey ?? options.signingKey;
  const { scopes = usualScopes } = options;
  if (secret === undefined)
    throw errors.invalidConfig(
      'mcp(): oauth has no secret that a person enters to connect a client. Set RUNYARD_MCP_OAUTH_SECRET to 16 characters or more.',
    );
  if (signingKey === undefined)
    throw errors.invalidConfig(
      'mcp(): oauth has no signing key. Set RUNYARD_MCP_OAUTH_SIGNING_KEY to the output of: openssl rand -hex 32',
    );
  if (secret.trim() === signingKey.trim())
    throw errors.invalidConfig('mcp(): the secret and the signing key of oauth are the same. Use two.');
  if (scopes.includes(settings.adminScope))
    throw errors.invalidConfig(
      `mcp(): oauth.scopes contains ${settings.adminScope}. A client that a shared secret connects is no admin.`,
    );
  return { secret, signingKey, scopes: [...new Set(scopes)] };
}
