import type { StepRecord } from '../run.js';

/** The key of the step of a call that failed and was made again: the `number`th one of this execution of the run. */
export function tryKey(stepKey: string, attempt: number, number: number): string {
  return `${stepKey}:try:${attempt}:${number}`;
}

/** The key of the step whose work it was a try of. */
export function triedKey({ key }: Pick<StepRecord, 'key'>): string {
  return key.replace(/:try:\d+:\d+$/, '');
}
