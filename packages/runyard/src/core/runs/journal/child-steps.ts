import type { StepRecord } from '../run.js';

/**
 * A run within another one has no journal of its own: its steps are in that of the outermost run, under the key
 * of the step that runs it. So its writes, pauses and cancellations are those of the outermost
 * run, and a crash finds both in the same state.
 */
const separator = '/';

/** What the keys of the steps of a child begin with. */
export function childPrefix(stepKey: string): string {
  return stepKey + separator;
}

/** What the key of a step begins with because of the runs around it: nothing for a step of the outermost run. */
export function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf(separator) + separator.length);
}

/** Whether it is the key of a step of the run whose keys begin with this, and not of a run within it. */
export function isUnder(key: string, prefix: string): boolean {
  return key.lastIndexOf(separator) === prefix.length - separator.length && key.startsWith(prefix);
}

/** The steps of a run itself, without those of the runs within it. */
export function ownSteps(steps: readonly StepRecord[]): readonly StepRecord[] {
  return steps.some(isInside) ? steps.filter((step) => !isInside(step)) : steps;
}

/** The steps of all runs right inside, with the keys that they have there, by the keys of the steps that those are. */
export function stepsByChild(steps: readonly StepRecord[]): ReadonlyMap<string, StepRecord[]> {
  const byChild = new Map<string, StepRecord[]>();
  for (const step of steps) {
    const end = step.key.indexOf(separator);
    if (end === -1) continue;
    const child = step.key.slice(0, end);
    const inside = relativeStep(step, step.key.slice(0, end + separator.length));
    const known = byChild.get(child);
    if (known === undefined) byChild.set(child, [inside]);
    else known.push(inside);
  }
  return byChild;
}

/** The step with the key that it has under a prefix. */
export function relativeStep(step: StepRecord, prefix: string): StepRecord {
  const { key, parentKey } = step;
  return {
    ...step,
    key: key.slice(prefix.length),
    parentKey: parentKey?.startsWith(prefix) ? parentKey.slice(prefix.length) : null,
  };
}

function isInside({ key }: StepRecord): boolean {
  return key.includes(separator);
}
