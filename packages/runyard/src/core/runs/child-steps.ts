import type { StepRecord } from './run.js';

/**
 * A run inside of another one has no journal of its own: its steps stand in that of the outermost run, under the key
 * of the step that it is the work of. What is written of it, what pauses it and what cancels it is so the outermost
 * run's, and a crash finds both in the same state.
 */
const separator = '/';

/** What the keys of the steps of a child begin with. */
export function childPrefix(stepKey: string): string {
  return stepKey + separator;
}

/** The steps of a run itself, without those of the runs inside of it. */
export function ownSteps(steps: readonly StepRecord[]): readonly StepRecord[] {
  return steps.some(isInside) ? steps.filter((step) => !isInside(step)) : steps;
}

/** The steps under a prefix, with the keys that they have there. */
export function stepsUnder(steps: readonly StepRecord[], prefix: string): StepRecord[] {
  return steps
    .filter(({ key }) => key.startsWith(prefix))
    .map((step) => ({
      ...step,
      key: step.key.slice(prefix.length),
      parentKey: step.parentKey?.startsWith(prefix) ? step.parentKey.slice(prefix.length) : null,
    }));
}

function isInside({ key }: StepRecord): boolean {
  return key.includes(separator);
}
