import { errors } from '../../core/errors/errors.js';
import {
  type RegisteredAgent,
  type RegisteredTeam,
  type RegisteredWorkflow,
  registeredAgent,
  registeredTeam,
  registeredWorkflow,
} from '../../core/factories/registered.js';
import { anyOf, kind, listOf, name, objectOf } from '../../core/options/kinds.js';
import type { RunKind } from '../../core/runs/run.js';

/** A component by its value or by its id, which may be that of a stored one. */
type Named<Component> = Component | string;

/** Options that limit what an interface shows. */
export interface ExposedOptions {
  /**
   * The agents that clients see. Default: all, the stored ones included. As soon as one of `agents`, `teams` and
   * `workflows` is given, clients see only what these lists name.
   */
  readonly agents?: readonly Named<RegisteredAgent>[];
  readonly teams?: readonly Named<RegisteredTeam>[];
  readonly workflows?: readonly Named<RegisteredWorkflow>[];
}

/** One agent, team or workflow. */
export interface OneComponent {
  readonly agent?: Named<RegisteredAgent>;
  readonly team?: Named<RegisteredTeam>;
  readonly workflow?: Named<RegisteredWorkflow>;
}

/** Names a component. */
export interface ComponentName {
  readonly kind: RunKind;
  readonly componentId: string;
}

/** Whether clients see a component of this id, if there is one. */
export type Exposes = (kind: RunKind, id: string) => boolean;

const agentName = anyOf(registeredAgent, name);
const teamName = anyOf(registeredTeam, name);
const workflowName = anyOf(registeredWorkflow, name);

export const exposedOptions = {
  agents: listOf(agentName),
  teams: listOf(teamName),
  workflows: listOf(workflowName),
};

export const oneComponentOptions = { agent: agentName, team: teamName, workflow: workflowName };
export const oneComponent = objectOf<OneComponent>(oneComponentOptions);

export function exposedBy({ agents, teams, workflows }: ExposedOptions): Exposes {
  const isLimited = [agents, teams, workflows].some((list) => list !== undefined);
  const chosen = { agent: idsOf(agents), team: idsOf(teams), workflow: idsOf(workflows) };
  return (of, id) => !isLimited || chosen[of].has(id);
}

/** What the lists name. */
export function namedBy({ agents, teams, workflows }: ExposedOptions): ComponentName[] {
  const lists = { agent: idsOf(agents), team: idsOf(teams), workflow: idsOf(workflows) };
  return (['agent', 'team', 'workflow'] as const).flatMap((of) =>
    Array.from(lists[of], (componentId) => ({ kind: of, componentId })),
  );
}

/** `option`: what names the component, for the error when it does not name exactly one. */
export function componentName(option: string, given: OneComponent): ComponentName {
  const named = (['agent', 'team', 'workflow'] as const).flatMap((of) => {
    const component = given[of];
    return component === undefined ? [] : [{ kind: of, componentId: idOf(component) }];
  });
  const [only] = named;
  if (only === undefined || named.length > 1)
    throw errors.invalidConfig(`${option} names one agent, team or workflow.`);
  return only;
}

function idsOf(named: readonly Named<{ readonly id: string }>[] = []): ReadonlySet<string> {
  return new Set(named.map(idOf));
}

function idOf(named: Named<{ readonly id: string }>): string {
  return typeof named === 'string' ? named : named.id;
}

const longestPrefix = 200;

/** Where an interface is mounted. */
export const prefixOf = (example: string) =>
  kind(
    `a path such as ${example}, without a slash at its end`,
    (value) =>
      typeof value === 'string' && value.length <= longestPrefix && /^(\/[A-Za-z0-9._~-]+)+$/.test(value),
  );
