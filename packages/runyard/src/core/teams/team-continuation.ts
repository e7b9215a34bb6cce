import { continuationOf } from '../agents/continuation/continuation.js';
import { ownSteps } from '../runs/child-steps.js';
import type { Continuation, ContinueFrom } from '../runs/continuation.js';
import type { Run, StepRecord } from '../runs/run.js';

/** What is kept of a team's run: the leader's conversation, and what members did for the calls that are in it. */
export function teamContinuationOf(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
  const own = continuationOf(run, ownSteps(steps), from);
  const kept = new Map(own.steps.map((step) => [step.key, step]));
  const ofMember = ({ key }: StepRecord): boolean => {
    const [, place] = /^member:(\d+:\d+)/.exec(key) ?? [];
    return place !== undefined && kept.has(`tool:${place}`);
  };
  return { ...own, steps: steps.flatMap((step) => kept.get(step.key) ?? (ofMember(step) ? step : [])) };
}
