import { errors } from '../../core/errors/errors.js';
import { checkOptions } from '../../core/options/check-options.js';
import {
  anyOf,
  count,
  flag,
  json,
  kind,
  listOf,
  milliseconds,
  name,
  objectOf,
} from '../../core/options/kinds.js';
import {
  type ComponentName,
  componentName,
  type ExposedOptions,
  type Exposes,
  exposedBy,
  exposedOptions,
  namedBy,
  type OneComponent,
  oneComponent,
  prefixOf,
} from '../common/exposed-components.js';
import type { GivenKey } from './cards/signing-key.js';

export interface A2aOptions extends ExposedOptions {
  /** The path of the interface. Default: `/a2a`. */
  readonly prefix?: string;
  /** The component whose card is also at `/.well-known/agent-card.json`. Default: none. */
  readonly defaultComponent?: OneComponent;
  /** The address in cards, such as `https://agents.example.com`. Default: the address that the client used. */
  readonly publicUrl?: string;
  /** Whether anyone may read cards, also with `authorization` on. Default: false. */
  readonly publicCards?: boolean;
  /** Whether cards have only the fields of protocol 1.0 for every client. Default: false. */
  readonly pureCards?: boolean;
  /**
   * The private key that signs cards of protocol 1.0 and push notifications: PEM text, or a JSON Web Key as an object or
   * as JSON. `{prefix}/.well-known/jwks.json` has its public part. Default: cards are not signed, and push notifications
   * are signed with a key that the service keeps in its database. It needs `publicUrl`.
   */
  readonly signingKey?: GivenKey;
  /** Whether clients may register push notifications. Default: false. */
  readonly pushNotifications?: boolean | PushNotificationOptions;
}

export interface PushNotificationOptions {
  /** Hosts (`intranet.example`, `127.0.0.1:8080`) that may be notified although their addresses are not public. */
  readonly allowedHosts?: readonly string[];
  /** How often a notification is attempted before it is given up. Default: 12, which takes about three hours. */
  readonly maxAttempts?: number;
  /** How long a receiver may take to answer. Default: 10 000. */
  readonly timeoutMs?: number;
  /** The wait after the first failure. It doubles with each further one, up to an hour. Default: 5 000. */
  readonly retryMs?: number;
}

export type PushSettings = Required<PushNotificationOptions>;

/** What one mounted interface serves. */
export interface A2aConfig
  extends Omit<A2aOptions, 'agents' | 'teams' | 'workflows' | 'defaultComponent' | 'pushNotifications'> {
  readonly prefix: string;
  readonly exposes: Exposes;
  /** What the options name. */
  readonly named: readonly ComponentName[];
  readonly defaultComponent?: ComponentName;
  /** Left out: there are no push notifications. */
  readonly push?: PushSettings;
}

const owner = 'a2a()';

const a2aOptions = objectOf<A2aOptions>({
  prefix: prefixOf('/a2a'),
  ...exposedOptions,
  defaultComponent: oneComponent,
  publicUrl: kind('an address such as https://agents.example.com, without query and fragment', isPublicUrl),
  publicCards: flag,
  pureCards: flag,
  signingKey: {
    ...anyOf(name, json),
    allowed: 'a private key as PEM text or as a JSON Web Key',
    secret: true,
  },
  pushNotifications: anyOf(
    flag,
    objectOf<PushNotificationOptions>({
      allowedHosts: listOf(name),
      maxAttempts: count(1, 100),
      timeoutMs: milliseconds(1, 60_000),
      retryMs: milliseconds(1, 3_600_000),
    }),
  ),
});

export function readA2aOptions(given: A2aOptions): A2aConfig {
  checkOptions(owner, given, a2aOptions);
  const { agents, teams, workflows, defaultComponent, pushNotifications, ...rest } = a2aOptions.plain(given);
  const exposes = exposedBy({ agents, teams, workflows });
  const listed = namedBy({ agents, teams, workflows });
  const named = defaultComponent && componentName(`${owner}: defaultComponent`, defaultComponent);
  if (named !== undefined && !exposes(named.kind, named.componentId))
    throw errors.invalidConfig(
      `${owner}: defaultComponent is the ${named.kind} '${named.componentId}', which ${named.kind}s does not name.`,
    );
  if (rest.signingKey !== undefined && rest.publicUrl === undefined)
    throw errors.invalidConfig(
      `${owner}: signingKey needs publicUrl. Without it a card has the address that its reader used, and a signature would vouch for any.`,
    );
  const push = pushSettings(pushNotifications);
  return {
    ...rest,
    prefix: rest.prefix ?? '/a2a',
    exposes,
    named: listed.length === 0 && named ? [named] : listed,
    ...(named && { defaultComponent: named }),
    ...(push && { push }),
  };
}

function pushSettings(given: A2aOptions['pushNotifications'] = false): PushSettings | undefined {
  if (given === false) return undefined;
  const {
    allowedHosts = [],
    maxAttempts = 12,
    timeoutMs = 10_000,
    retryMs = 5_000,
  } = given === true ? {} : given;
  return { allowedHosts, maxAttempts, timeoutMs, retryMs };
}

function isPublicUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, search, hash, username } = new URL(value);
  return /^https?:$/.test(protocol) && search === '' && hash === '' && username === '';
}
