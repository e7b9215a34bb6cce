import { Agent, type AnyAgent } from '../../core/agents/agent.js';
import { AgentFactory } from '../../core/agents/agent-factory.js';
import { errors } from '../../core/errors/errors.js';
import { checkOptions } from '../../core/options/check-options.js';
import {
  anyOf,
  count,
  flag,
  instanceOf,
  json,
  kind,
  listOf,
  milliseconds,
  name,
  objectOf,
} from '../../core/options/kinds.js';
import type { RunKind } from '../../core/runs/run.js';
import { type AnyTeam, Team } from '../../core/teams/team.js';
import { type AnyWorkflow, Workflow } from '../../core/workflows/workflow.js';
import type { GivenKey } from './cards/signing-key.js';

/** A component by its value or by its id, which may be that of a stored one. */
type Named<Component> = Component | string;

export interface A2aOptions {
  /** The path of the interface. Default: `/a2a`. */
  readonly prefix?: string;
  /**
   * The agents that A2A clients see. Default: all, the stored ones included. As soon as one of `agents`, `teams` and
   * `workflows` is given, clients see only what these lists name.
   */
  readonly agents?: readonly Named<AnyAgent | AgentFactory>[];
  readonly teams?: readonly Named<AnyTeam>[];
  readonly workflows?: readonly Named<AnyWorkflow>[];
  /** The component whose card is also at `/.well-known/agent-card.json`. Default: none. */
  readonly defaultComponent?: {
    readonly agent?: Named<AnyAgent | AgentFactory>;
    readonly team?: Named<AnyTeam>;
    readonly workflow?: Named<AnyWorkflow>;
  };
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
  /** Whether A2A clients see a component of this id, if there is one. */
  exposes(kind: RunKind, id: string): boolean;
  readonly defaultComponent?: ComponentName;
  /** Left out: there are no push notifications. */
  readonly push?: PushSettings;
}

/** Names a component. */
export interface ComponentName {
  readonly kind: RunKind;
  readonly componentId: string;
}

const owner = 'a2a()';
const longestPrefix = 200;

const agentName = anyOf(instanceOf(Agent, 'an agent'), instanceOf(AgentFactory, 'an agent factory'), name);
const teamName = anyOf(instanceOf(Team, 'a team'), name);
const workflowName = anyOf(instanceOf(Workflow, 'a workflow'), name);

const a2aOptions = objectOf<A2aOptions>({
  prefix: kind('a path such as /a2a, without a slash at its end', isPrefix),
  agents: listOf(agentName),
  teams: listOf(teamName),
  workflows: listOf(workflowName),
  defaultComponent: objectOf<NonNullable<A2aOptions['defaultComponent']>>({
    agent: agentName,
    team: teamName,
    workflow: workflowName,
  }),
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
  const isLimited = [agents, teams, workflows].some((list) => list !== undefined);
  const chosen = { agent: idsOf(agents), team: idsOf(teams), workflow: idsOf(workflows) };
  const exposes = (of: RunKind, id: string) => !isLimited || chosen[of].has(id);
  const named = defaultComponent && componentName(defaultComponent);
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

function componentName(given: NonNullable<A2aOptions['defaultComponent']>): ComponentName {
  const named = (['agent', 'team', 'workflow'] as const).flatMap((of) => {
    const component = given[of];
    return component === undefined ? [] : [{ kind: of, componentId: idOf(component) }];
  });
  const [only] = named;
  if (only === undefined || named.length > 1)
    throw errors.invalidConfig(`${owner}: defaultComponent names one agent, team or workflow.`);
  return only;
}

function idsOf(named: readonly Named<{ readonly id: string }>[] = []): ReadonlySet<string> {
  return new Set(named.map(idOf));
}

function idOf(named: Named<{ readonly id: string }>): string {
  return typeof named === 'string' ? named : named.id;
}

function isPrefix(value: unknown): boolean {
  return typeof value === 'string' && value.length <= longestPrefix && /^(\/[A-Za-z0-9._~-]+)+$/.test(value);
}

function isPublicUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, search, hash, username } = new URL(value);
  return /^https?:$/.test(protocol) && search === '' && hash === '' && username === '';
}
