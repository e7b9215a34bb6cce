import type { RunContext } from '../../runs/context.js';

/** Whether a person had to answer something for the member. */
export function hasWaited(context: RunContext, key: string): boolean {
  return context.stepsInside(key).some(({ kind }) => kind === 'wait');
}
