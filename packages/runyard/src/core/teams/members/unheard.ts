import type { Executable } from '../../runs/executable.js';

/** A member that tells nothing, and nothing of what is inside of it: for the ends of runs that nobody followed. */
export function unheard(member: Executable): Executable {
  const { kind, id, name, model, initialState, eventFields, limits } = member;
  return {
    kind,
    id,
    name,
    model,
    initialState,
    eventFields,
    limits,
    execute: (context) => member.execute(context),
    endEvents: () => [],
  };
}
