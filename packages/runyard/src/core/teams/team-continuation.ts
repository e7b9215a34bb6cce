import { continuationOf, isKeptOf } from '../agents/continuation/continuation.js';
import { ownSteps } from '../runs/journal/child-steps.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, StepRecord } from '../runs/run.js';

/** What is kept of a team's run: the leader's conversation, and what members did for the calls that are in it. */
export function teamContinuationOf(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
  const { unfinished = [], ...own } = continuationOf(run, ownSteps(steps), from);
  const kept = withMembers(own.steps, steps);
  if (unfinished.length === 0) return { ...own, steps: kept };
  const begun = withMembers(unfinished, steps).filter(isKeptOf(run));
  return { ...own, steps: kept, unfinished: begun };
}

/** Steps of the leader, with all that members did for the calls among them. */
function withMembers(own: readonly StepRecord[], steps: readonly StepRecord[]): readonly StepRecord[] {
  const kept = new Map(own.map((step) => [step.key, step]));
  const ofMember = ({ key }: StepRecord): boolean => {
    const [, place] = /^member:(\d+:\d+)/.exec(key) ?? [];
    return place !== undefined && kept.has(`tool:${place}`);
  };
  return steps.flatMap((step) => kept.get(step.key) ?? (ofMember(step) ? step : []));
}
