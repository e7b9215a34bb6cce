import type { RunEvent } from '../../events/run-event.js';
import type { ChildRun, RunContext } from '../../runs/context.js';

/** What becomes of the events of members. */
export interface MemberVoices {
  /** They are sent at all. */
  readonly heard: boolean;
  /** What a member says is said by the team: as it comes, or (`later`) as a part of what the team makes of it. */
  readonly speaksForTeam?: 'now' | 'later';
}

/** The same context with other functions. It inherits instead of copying: the rest stays what it is. */
export function contextWith(context: RunContext, functions: Partial<RunContext>): RunContext {
  return Object.create(context, Object.getOwnPropertyDescriptors(functions)) as RunContext;
}

/** A context whose runs inside are heard in this way. */
export function withVoices(context: RunContext, voices: MemberVoices): RunContext {
  if (voices.heard && voices.speaksForTeam === undefined) return context;
  return contextWith(context, { child: (child) => memberContext(context, child, voices) });
}

function memberContext(
  team: RunContext,
  child: ChildRun,
  { heard, speaksForTeam }: MemberVoices,
): RunContext {
  const member = heard ? team.child(child) : silenced(team.child(child));
  if (speaksForTeam === undefined) return member;
  const isSpoken = ({ event }: RunEvent) => event === 'RunContent';
  const speaks = speaksForTeam === 'now';
  return contextWith(member, {
    emit(event, key) {
      if (!isSpoken(event)) member.emit(event, key);
      else if (speaks) team.emit(event, `${child.key}:said:${key}`);
    },
    emitDelta(event, text) {
      if (!isSpoken(event)) member.emitDelta(event, text);
      else if (speaks) team.emitDelta(event, text);
    },
    // what it has said so far is what the team has to show
    ...(speaks && { draft: team.draft }),
  });
}

function silenced(context: RunContext): RunContext {
  return contextWith(context, {
    emit() {},
    emitDelta() {},
    child: (child) => silenced(context.child(child)),
  });
}
