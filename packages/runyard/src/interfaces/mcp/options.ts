import { errors } from '../../core/errors/errors.js';
import { checkOptions } from '../../core/options/check-options.js';
import type { Shape } from '../../core/options/kind.js';
import { callable, flag, kind, listOf, objectOf, word } from '../../core/options/kinds.js';
import { type PlainToolEntry, plainToolEntry } from '../../core/tools/toolkit.js';
import type { Caller } from '../../platform/auth/caller.js';
import { isAllowedHost } from '../../platform/http/defences/hosts.js';
import { type McpOAuthOptions, oauthOptions } from './oauth/options.js';

/** Groups of built-in tools. `extra` is off unless it is named. */
export type McpToolTag = 'core' | 'session' | 'extra';

/** What `mcp()` may be given. */
export interface McpOptions {
  /** Tools of your own beside the built-in ones. A parameter `user_id` is the caller's id, and clients do not see it. */
  readonly tools?: readonly PlainToolEntry[];
  /** Whether the built-in tools are offered; true when left out. */
  readonly builtinTools?: boolean;
  /** The groups of built-in tools to offer; `core` and `session` when left out. */
  readonly includeTags?: readonly McpToolTag[];
  /** The groups of built-in tools to leave out. */
  readonly excludeTags?: readonly McpToolTag[];
  /** What a run tool answers beside the text: ids and status (`trimmed`, the default), or the whole run (`full`). */
  readonly resultMode?: 'trimmed' | 'full';
  /** Who may use the endpoint, beyond what their token says. */
  readonly authorize?: (userId: string | null, caller: Caller) => boolean | Promise<boolean>;
  /** Names that clients may call the endpoint by, without ports; `*.example.com` stands for all below it. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may use the endpoint, beside those of allowed hosts and of the setting `corsOrigins`. */
  readonly allowedOrigins?: readonly string[];
  /** Where clients reach the service, such as `https://agents.example.com`; derived from the request when left out. */
  readonly publicUrl?: string;
  /** Lets clients register and people approve them: the endpoint then needs a token. Left out: the tokens of the service. */
  readonly oauth?: McpOAuthOptions;
}

/** The options with their defaults. */
export interface McpConfig extends McpOptions {
  readonly tools: readonly PlainToolEntry[];
  /** The groups of built-in tools that are offered. */
  readonly tags: ReadonlySet<McpToolTag>;
  readonly resultMode: 'trimmed' | 'full';
}

const tag = word('core', 'session', 'extra');
const host = kind('a host name without a port', (value) => typeof value === 'string' && isAllowedHost(value));
const origin = kind(
  'an origin such as https://app.example.com',
  (value) => typeof value === 'string' && /^[a-z][a-z\d+.-]*:\/\/[^/*\s]+$/i.test(value),
);
const address = kind(
  'an address such as https://agents.example.com',
  (value) => typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value),
);

const shape: Shape<McpOptions> = {
  tools: listOf(plainToolEntry),
  builtinTools: flag,
  includeTags: listOf(tag),
  excludeTags: listOf(tag),
  resultMode: word('trimmed', 'full'),
  authorize: callable,
  allowedHosts: listOf(host),
  allowedOrigins: listOf(origin),
  publicUrl: address,
  oauth: oauthOptions,
};

const mcpOptions = objectOf<McpOptions>(shape);

/** Checks the options, and completes them. */
export function mcpConfigOf(given: McpOptions): McpConfig {
  checkOptions('mcp()', given, mcpOptions);
  const options = mcpOptions.plain(given);
  const { tools = [], builtinTools = true, excludeTags = [], resultMode = 'trimmed' } = options;
  const { includeTags = ['core', 'session'] } = options;
  const offered = builtinTools ? includeTags.filter((one) => !excludeTags.includes(one)) : [];
  if (!builtinTools && tools.length === 0)
    throw errors.invalidConfig('mcp(): builtinTools is false and tools is empty. Give at least one tool.');
  return { ...options, tools, tags: new Set(offered), resultMode };
}
