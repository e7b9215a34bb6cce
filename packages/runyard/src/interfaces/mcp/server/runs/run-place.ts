import { z } from 'zod';
import { errors } from '../../../../core/errors/errors.js';
import type { RunKind } from '../../../../core/runs/run.js';
import { assertMay } from '../../../../platform/auth/authenticator.js';
import type { Caller } from '../../../../platform/auth/caller.js';
import { identifier } from '../../../../platform/http/request/fields.js';
import { optional } from '../mcp-tool.js';

/** Names a component. */
export interface ComponentPlace {
  readonly kind: RunKind;
  readonly componentId: string;
}

export const kinds = ['agent', 'team', 'workflow'] as const;

/** Arguments that name the component of a run. */
export const componentArguments = {
  agent_id: optional(z.string(), 'The agent of the run. Give exactly one of agent_id, team_id, workflow_id.'),
  team_id: optional(z.string(), 'The team of the run.'),
  workflow_id: optional(z.string(), 'The workflow of the run.'),
};

export const sessionArgument = optional(identifier(), 'The session of the run.');

/** The one component that the arguments name. */
export function namedComponent(
  args: Readonly<Record<'agent_id' | 'team_id' | 'workflow_id', string | null>>,
): ComponentPlace {
  const named = kinds.flatMap((kind) => {
    const componentId = args[`${kind}_id`];
    return componentId === null || componentId === '' ? [] : [{ kind, componentId }];
  });
  const [one, ...others] = named;
  if (one === undefined || others.length > 0) throw errors.oneComponentNeeded();
  return one;
}

/** To start, continue or cancel runs, as the routes ask for it. */
export function assertMayRun(caller: Caller, { kind, componentId }: ComponentPlace): void {
  assertMay(caller, { scope: `${kind}s:run`, params: { [`${kind}_id`]: componentId } });
}

/** To read a run, as the routes ask for it. */
export function assertMayReadRun(caller: Caller, { kind, componentId }: ComponentPlace): void {
  const scope = [`${kind}s:read`, `${kind}s:run`];
  assertMay(caller, { scope, params: { [`${kind}_id`]: componentId } });
}

/** Null and the empty text count as left out. */
export function given(text: string | null): string | undefined {
  return text || undefined;
}
