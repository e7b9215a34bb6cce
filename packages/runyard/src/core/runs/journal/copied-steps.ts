import type { ContinueRecord } from '../journal/records.js';
import { copiedKey } from '../resume/continuation.js';
import { continueStep } from '../resume/resting-runs.js';
import { inheritedAttempt, type Run, type RunLineage, type StepRecord } from '../run.js';

/** What a run takes over from another one. */
export interface RunCopy {
  readonly steps: readonly StepRecord[];
  readonly lineage: RunLineage;
  readonly continuation: ContinueRecord;
}

/** The steps that a copy begins with, renumbered, followed by what came with the request for it. */
export function copiedSteps(run: Run, copy: RunCopy | undefined): readonly StepRecord[] {
  if (copy === undefined) return [];
  const { runId } = run;
  const steps = copy.steps.map((step, seq) => ({
    ...step,
    runId,
    seq,
    key: copiedKey(step.key),
    attempt: inheritedAttempt,
  }));
  return [...steps, continueStep(run, steps.length, copy.continuation, run.createdAt)];
}
