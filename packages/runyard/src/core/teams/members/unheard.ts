import type { Executable } from '../../runs/executable.js';

/** A member that emits nothing, nor does anything within it: for the ends of runs without a reader. */
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
    leave: (context, end) => member.leave?.(context, end),
    inside: (run, around) => {
      const inner = member.inside?.(run, around);
      return inner && unheard(inner);
    },
  };
}
