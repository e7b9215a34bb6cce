import type { RunEvent } from '../../events/run-event.js';
import type { ChildRun, RunContext } from '../../runs/context.js';

/** What becomes of the events of members. */
export interface MemberEvents {
  /** They are sent at all. */
  readonly sent: boolean;
  /** The content of a member is sent as that of the team: as it comes, or (`later`) as a part of the answer of the team. */
  readonly asTeam?: 'now' | 'later';
}

/** The same context with other functions. It inherits instead of copying: the rest stays what it is. */
export function contextWith(context: RunContext, functions: Partial<RunContext>): RunContext {
  return Object.create(context, Object.getOwnPropertyDescriptors(functions));
}

/** A context in which the events of runs inside are sent in this way. */
export function withMemberEvents(context: RunContext, events: MemberEvents): RunContext {
  if (events.sent && events.asTeam === undefined) return context;
  return contextWith(context, { child: (child) => memberContext(context, child, events) });
}

function memberContext(team: RunContext, child: ChildRun, { sent, asTeam }: MemberEvents): RunContext {
  const member = sent ? team.child(child) : silenced(team.child(child));
  if (asTeam === undefined) return member;
  const isContent = ({ event }: RunEvent) => event === 'RunContent';
  const isNow = asTeam === 'now';
  return contextWith(member, {
    emit(event, key) {
      if (!isContent(event)) member.emit(event, key);
      else if (isNow) team.emit(event, `${child.key}:said:${key}`);
    },
    emitDelta(event, text) {
      if (!isContent(event)) member.emitDelta(event, text);
      else if (isNow) team.emitDelta(event, text);
    },
    // the content so far of the member is that of the team
    ...(isNow && { draft: team.draft }),
  });
}

function silenced(context: RunContext): RunContext {
  return contextWith(context, {
    emit() {},
    emitDelta() {},
    child: (child) => silenced(context.child(child)),
  });
}
