import { errors } from '../errors/errors.js';
import {
  type RegisteredAgent,
  type RegisteredTeam,
  type RegisteredWorkflow,
  registeredAgent,
  registeredTeam,
  registeredWorkflow,
} from '../factories/registered.js';
import { isJsonObject, type JsonObject, parseJson } from '../json.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import type { Shape } from '../options/kind.js';
import { anyOf, count, flag, json, kind, name, objectOf, required, text, word } from '../options/kinds.js';
import { InvalidCron, parseCron } from './cron.js';
import { endpointFault, longestEndpoint } from './endpoint.js';
import {
  type Method,
  type MissedTicks,
  methods,
  missedTicks,
  type Overlap,
  overlaps,
  type ScheduleDefinition,
  scheduleBounds,
  scheduleDefaults,
  scheduleName,
} from './schedule-definition.js';
import { type ScheduledEval, scheduledEval, scheduledEvalFault } from './scheduled-eval.js';
import { isTimeZone } from './time-zone.js';

/** What a schedule in code says. Of `agent`, `team`, `workflow`, `evaluation` and `endpoint` it has one. */
export interface ScheduleSettings {
  /** A name that no other schedule of the code has. The schedule of this name is the same one after a restart. */
  readonly name: string;
  readonly description?: string;
  /** Five fields, or an alias such as `@daily`. */
  readonly cron: string;
  /** The time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timezone?: string;
  /** Starts a run of this agent, which is registered with the service. */
  readonly agent?: RegisteredAgent | string;
  readonly team?: RegisteredTeam | string;
  readonly workflow?: RegisteredWorkflow | string;
  /** The message of the run: required for an agent, a team and a workflow. */
  readonly message?: string;
  /** Starts an eval: the body of `POST /eval-runs`. */
  readonly evaluation?: ScheduledEval;
  /** Calls this route of the service. */
  readonly endpoint?: string;
  /** How `endpoint` is called. Default: `POST`. */
  readonly method?: Method;
  /** Further fields of the run, or the body for `endpoint`. */
  readonly payload?: JsonObject;
  /** At a tick while an earlier one is being executed: `skip` it, `queue` it or `allow` both. Default: `skip`. */
  readonly overlap?: Overlap;
  /** For ticks while no process was there: `skip` them, execute `once` for all of them, or execute `all`. Default: `once`. */
  readonly missed?: MissedTicks;
  /** Each tick is executed up to so many seconds later. Default: 0. */
  readonly jitterSeconds?: number;
  /** After so many seconds an attempt is cancelled. Default: 3600. */
  readonly timeoutSeconds?: number;
  /** How often a failed attempt is repeated. Default: 0. */
  readonly retries?: number;
  /** Default: 60. */
  readonly retryDelaySeconds?: number;
  /** Whether it is enabled when a database first sees it. After that, callers enable and disable it. Default: true. */
  readonly enabled?: boolean;
}

const scheduleOptions = objectOf<ScheduleSettings>({
  name: required(
    kind(
      `a text of at most ${scheduleBounds.nameLength} letters, digits, blanks, '.', '_' and '-', starting with a letter or digit`,
      (value) =>
        typeof value === 'string' && value.length <= scheduleBounds.nameLength && scheduleName.test(value),
    ),
  ),
  description: text,
  cron: required(name),
  timezone: kind(
    "the name of a time zone such as 'Europe/Paris'",
    (value) => typeof value === 'string' && isTimeZone(value),
  ),
  agent: anyOf(registeredAgent, name),
  team: anyOf(registeredTeam, name),
  workflow: anyOf(registeredWorkflow, name),
  message: text,
  evaluation: scheduledEval,
  endpoint: name,
  method: word(...methods),
  payload: json,
  overlap: word(...overlaps),
  missed: word(...missedTicks),
  jitterSeconds: count(0, scheduleBounds.jitterSeconds),
  timeoutSeconds: count(1, scheduleBounds.timeoutSeconds),
  retries: count(0, scheduleBounds.maxRetries),
  retryDelaySeconds: count(1, scheduleBounds.retryDelaySeconds),
  enabled: flag,
} satisfies Shape<ScheduleSettings>);

/** A component that a schedule runs or evaluates. */
export interface ScheduledComponent {
  readonly kind: 'agent' | 'team' | 'workflow';
  readonly id: string;
}

/** A schedule that the code of a service defines. */
export class DefinedSchedule {
  readonly definition: ScheduleDefinition;
  readonly enabled: boolean;
  /** What it runs or evaluates; undefined for one that calls something else. */
  readonly component: ScheduledComponent | undefined;

  constructor(given: ScheduleSettings) {
    const owner = ownerOf('Schedule', given);
    checkOptions(owner, given, scheduleOptions);
    const settings = scheduleOptions.plain(given);
    this.enabled = settings.enabled ?? true;
    const run = componentOf(settings);
    const call = callOf(owner, settings, run);
    this.component = run ?? evaluatedBy(settings);
    assertCron(owner, settings.cron);
    this.definition = {
      ...scheduleDefaults,
      ...call,
      name: settings.name,
      description: settings.description ?? null,
      cronExpr: settings.cron,
      timezone: settings.timezone ?? scheduleDefaults.timezone,
      timeoutSeconds: settings.timeoutSeconds ?? scheduleDefaults.timeoutSeconds,
      maxRetries: settings.retries ?? scheduleDefaults.maxRetries,
      retryDelaySeconds: settings.retryDelaySeconds ?? scheduleDefaults.retryDelaySeconds,
      overlap: settings.overlap ?? scheduleDefaults.overlap,
      missed: settings.missed ?? scheduleDefaults.missed,
      jitterSeconds: settings.jitterSeconds ?? scheduleDefaults.jitterSeconds,
    };
  }
}

/** Defines a schedule. Registered with `new Runyard({ schedules })`, it is executed while the service runs. */
export function schedule(settings: ScheduleSettings): DefinedSchedule {
  return new DefinedSchedule(settings);
}

function componentOf({
  agent,
  team,
  workflow,
}: Partial<Pick<ScheduleSettings, 'agent' | 'team' | 'workflow'>>): ScheduledComponent | undefined {
  const idOf = (given: string | { readonly id: string }) => (typeof given === 'string' ? given : given.id);
  if (agent !== undefined) return { kind: 'agent', id: idOf(agent) };
  if (team !== undefined) return { kind: 'team', id: idOf(team) };
  return workflow === undefined ? undefined : { kind: 'workflow', id: idOf(workflow) };
}

function evaluatedBy({ evaluation = {} }: { readonly evaluation?: Partial<ScheduledEval> }) {
  const { agent_id: agent, team_id: team, workflow_id: workflow } = evaluation;
  return componentOf({ agent, team, workflow });
}

/** As the database will give it back: without fields that are undefined. */
function asJson(fields: object): JsonObject | null {
  const parsed = parseJson(JSON.stringify(fields));
  return isJsonObject(parsed) ? parsed : null;
}

type Call = Pick<ScheduleDefinition, 'method' | 'endpoint' | 'payload'>;

function callOf(owner: string, settings: ScheduleSettings, component: ScheduledComponent | undefined): Call {
  const { agent, team, workflow, evaluation, endpoint, method, message, payload } = settings;
  const targets = [agent, team, workflow, evaluation, endpoint].filter((one) => one !== undefined);
  if (targets.length !== 1)
    throw errors.invalidConfig(
      `${owner} needs exactly one of agent, team, workflow, evaluation and endpoint.`,
    );
  if (component === undefined && message !== undefined)
    throw errors.invalidConfig(`${owner}: message belongs to agent, team and workflow. Give payload.`);
  if (component !== undefined && message === undefined && payload?.message === undefined)
    throw errors.invalidConfig(`${owner}: message is missing. Give the message of the run.`);
  if (endpoint === undefined && method !== undefined)
    throw errors.invalidConfig(`${owner}: method belongs to endpoint.`);
  if (evaluation !== undefined && payload !== undefined)
    throw errors.invalidConfig(`${owner}: evaluation is the payload. Leave payload out.`);
  const evalFault = evaluation && scheduledEvalFault(evaluation);
  if (evalFault !== undefined) throw errors.invalidConfig(`${owner}: ${evalFault}.`);
  const fields = evaluation ?? (message === undefined ? payload : { ...payload, message });
  const call: Call = {
    method: method ?? scheduleDefaults.method,
    endpoint: endpoint ?? (component === undefined ? '/eval-runs' : runsOf(component)),
    payload: fields === undefined ? null : asJson(fields),
  };
  const fault =
    call.endpoint.length > longestEndpoint
      ? `endpoint must have at most ${longestEndpoint} characters`
      : endpointFault(call.endpoint);
  if (fault !== undefined) throw errors.invalidConfig(`${owner}: ${fault}.`);
  if (JSON.stringify(call.payload).length > scheduleBounds.payloadLength)
    throw errors.invalidConfig(
      `${owner}: payload must have at most ${scheduleBounds.payloadLength} characters as JSON.`,
    );
  return call;
}

function runsOf({ kind, id }: ScheduledComponent): string {
  return `/${kind}s/${encodeURIComponent(id)}/runs`;
}

function assertCron(owner: string, cron: string): void {
  try {
    parseCron(cron);
  } catch (error) {
    if (error instanceof InvalidCron)
      throw errors.invalidConfig(`${owner}: Invalid cron expression: ${cron}. ${error.message}`);
    throw error;
  }
}
