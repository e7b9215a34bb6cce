import type { JsonObject } from '../../core/json.js';
import type { FixedValues } from '../../core/runs/run.js';
import type { BoundValues, Caller } from './caller.js';

/** Whether an admin does something to what belongs to another user: their own token says nothing about that. */
export function actsForAnother({ rights, userId }: Caller, owner: string | null): boolean {
  return rights.isAdmin && owner !== userId;
}

/** The keys of a session's state that only tokens give a value, as far as this caller is concerned. */
export function fixedStateKeys({ rights, bound }: Caller): readonly string[] {
  return rights.isAdmin ? [] : (bound.claimNames?.sessionState ?? []);
}

/** What a run keeps in mind of its caller's token; undefined where that says nothing. */
export function fixedBy({ claimNames, sessionState = {}, claims }: BoundValues): FixedValues | undefined {
  const { dependencies = [], sessionState: stateKeys = [] } = claimNames ?? {};
  if (dependencies.length + stateKeys.length === 0 && claims === undefined) return undefined;
  return { dependencies, stateKeys, state: sessionState, ...(claims !== undefined && { claims }) };
}

/** Values without those that only a token may give. */
export function without(values: JsonObject | undefined, names: readonly string[]): JsonObject | undefined {
  if (values === undefined || names.length === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
