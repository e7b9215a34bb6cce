import { Agent } from './core/agents/agent.js';
import { LiveEval } from './core/evals/live-eval.js';
import type { Scorer } from './core/evals/scorer.js';
import { madeScorer } from './core/evals/scorers/own-scorer.js';
import {
  type RegisteredAgent,
  type RegisteredTeam,
  type RegisteredWorkflow,
  registeredAgent,
  registeredTeam,
  registeredWorkflow,
} from './core/factories/registered.js';
import { Knowledge } from './core/knowledge/knowledge.js';
import type { Log } from './core/log.js';
import { prices } from './core/models/price-kind.js';
import type { ModelPrices } from './core/models/prices.js';
import { checkOptions } from './core/options/check-options.js';
import type { Shape } from './core/options/kind.js';
import {
  anyOf,
  anything,
  callable,
  count,
  flag,
  instanceOf,
  listOf,
  milliseconds,
  objectOf,
  recordOf,
  text,
} from './core/options/kinds.js';
import { logKind } from './core/options/log-kind.js';
import { type RegistrySettings, registryOptions } from './core/registry/registry-options.js';
import { DefinedSchedule } from './core/schedules/schedule.js';
import { Team } from './core/teams/team.js';
import { Workflow } from './core/workflows/workflow.js';
import { DefinedInterface } from './interfaces/interface.js';
import type { RightsOfHolder } from './platform/auth/kept-caller.js';
import type { CustomRoutes } from './platform/http/custom-routes.js';
import type { FetchHandlerOptions } from './platform/http/fetch-handler.js';
import { checkCodeSettings, type SettingsInput, type SettingsSources } from './platform/settings/config.js';
import type { SchemaChange } from './platform/storage/migrations/change-schema.js';

/** What an application says in code beside settings. */
interface OwnOptions {
  readonly agents?: readonly RegisteredAgent[];
  readonly teams?: readonly RegisteredTeam[];
  readonly workflows?: readonly RegisteredWorkflow[];
  /** Knowledge bases that callers manage. Those of agents and teams need not be named here. */
  readonly knowledge?: readonly Knowledge[];
  /** What stored configurations refer to by name. What the components of the code use need not be named here. */
  readonly registry?: RegistrySettings;
  /** Evals that grade a share of the finished runs in the background. */
  readonly liveEvals?: readonly LiveEval[];
  /** Scorers of your own that callers choose by name for evals. */
  readonly scorers?: readonly Scorer[];
  /** Schedules that belong to the code: callers see, enable and disable them, and change nothing else. */
  readonly schedules?: readonly DefinedSchedule[];
  /** Further protocols for the same components, such as `mcp()` and `a2a()` of `runyard/interfaces`. */
  readonly interfaces?: readonly DefinedInterface[];
  /** Routes of your own on the same application: a fastify plugin. */
  readonly routes?: CustomRoutes;
  /** What the tokens of models cost, over the list prices: `{ 'openai:gpt-5*': { input: 1.25, output: 10 } }`. */
  readonly prices?: ModelPrices;
  /**
   * What a person may do now, asked for at each tick of a schedule that they made with a token: their scopes, or null for
   * one who has left. Left out: schedules keep the scopes that their creators had.
   */
  readonly scheduleRights?: RightsOfHolder;
  /** Where log lines go instead of standard output. */
  readonly log?: Log;
}

/** What an application says in code: what is registered, and settings. */
export interface RunyardOptions extends SettingsInput, OwnOptions {}

const agent = { ...registeredAgent, allowed: 'an agent, made with agent() or agentFactory()' };
const team = { ...registeredTeam, allowed: 'a team, made with team() or teamFactory()' };
const workflow = { ...registeredWorkflow, allowed: 'a workflow, made with workflow() or workflowFactory()' };

const ownShape: Shape<OwnOptions> = {
  agents: listOf(agent),
  teams: listOf(team),
  workflows: listOf(workflow),
  knowledge: listOf(instanceOf(Knowledge, 'a knowledge base, made with knowledge()')),
  registry: registryOptions,
  liveEvals: listOf(instanceOf(LiveEval, 'a live eval, made with liveEval()')),
  scorers: listOf(madeScorer),
  schedules: listOf(instanceOf(DefinedSchedule, 'a schedule, made with schedule()')),
  interfaces: listOf(
    instanceOf(
      DefinedInterface,
      'an interface, made with a2a(), agui(), aiSdk(), mcp(), openaiApi(), slack() or webSocket()',
    ),
  ),
  routes: callable,
  prices,
  scheduleRights: callable,
  log: logKind,
};

/** The options of a service that are not settings. */
export const ownOptionNames = Object.keys(ownShape) as (keyof OwnOptions)[];

const ownOptions = objectOf<OwnOptions>(ownShape);

/**
 * What the code says, once it is found right: settings from elsewhere join those of the code later, but what the code
 * says is checked at once.
 */
export function checkedRunyardOptions(given: RunyardOptions): RunyardOptions {
  const isObject = ownOptions.takes(given);
  const options: RunyardOptions = isObject ? ownOptions.plain(given) : given;
  const own = isObject ? Object.fromEntries(ownOptionNames.map((name) => [name, options[name]])) : given;
  checkOptions('new Runyard()', own, ownOptions);
  checkCodeSettings({ ...options }, ownOptionNames);
  return options;
}

export const sourcesOptions = objectOf<Omit<SettingsSources, 'code' | 'otherCodeNames'>>({
  file: text,
  env: recordOf(text),
  flags: recordOf(anything),
  cwd: text,
});

/** What `toConfig` takes. */
export const readyComponent = {
  ...anyOf(instanceOf(Agent, 'an agent'), instanceOf(Team, 'a team'), instanceOf(Workflow, 'a workflow')),
  allowed: 'an agent, a team or a workflow, made with agent(), team() or workflow()',
};

export const listenOptions = objectOf<{ ownsProcess?: boolean }>({ ownsProcess: flag });
export const handlerOptions = objectOf<{ basePath?: string }>({ basePath: text });
export const fetchHandlerOptions = objectOf<FetchHandlerOptions<[]>>({
  basePath: text,
  clientAddress: callable,
});

/** Where a service listens. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Where `probePort` is served. */
  readonly probeUrl?: string;
  /** Interfaces with a path of their own, such as `mcp`. */
  readonly interfaces: readonly { readonly type: string; readonly title: string; readonly url: string }[];
}

/** How `migrate` migrates. */
export interface MigrateOptions {
  /** The version to go to, up or down; 0 removes all tables. Default: the newest. */
  readonly to?: number;
  /** Default: all databases. */
  readonly database?: string;
  /** Executes nothing; the results have the SQL of each step. */
  readonly dryRun?: boolean;
  /** Also carries out a downgrade that deletes data. */
  readonly force?: boolean;
}

/** What `migrate` did to a database, or would do. */
export interface MigrationReport extends SchemaChange {
  readonly database: string;
}

export const migrateOptions = objectOf<MigrateOptions>({
  to: count(0),
  database: text,
  dryRun: flag,
  force: flag,
});
export const replayOptions = objectOf<{ runs?: unknown }>({ runs: anything });
export const reembedOptions = objectOf<{ knowledge?: string }>({ knowledge: text });
export const closeOptions = objectOf<{ graceMs?: number }>({ graceMs: milliseconds(0) });
