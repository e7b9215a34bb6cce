import { endEvents, runPaused } from '../agents/agent-events.js';
import { teamRequirementsOf } from '../agents/requirements/team-requirements.js';
import type { RunEvent } from '../events/run-event.js';
import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import { memberResponses } from './member-responses.js';

/** The last events of a team's run: those of its leader, with the outputs of its members. */
export function teamEndEvents(
  end: RunEnd,
  context: Pick<RunContext, 'run' | 'allSteps'>,
): readonly RunEvent[] {
  const run = { ...context.run, status: end.status };
  if (end.status === 'paused') {
    const waits = teamRequirementsOf(run, context.allSteps());
    return [runPaused(waits.filter(({ answer }) => answer === null))];
  }
  const responses = memberResponses(run, context.allSteps());
  const events = endEvents(end, context.allSteps());
  if (responses.length === 0) return events;
  return events.map((event) =>
    event.event === 'RunCompleted' ? { ...event, member_responses: responses } : event,
  );
}
