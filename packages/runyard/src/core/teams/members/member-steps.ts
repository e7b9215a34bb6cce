import { childPrefix } from '../../runs/child-steps.js';
import type { RunContext } from '../../runs/context.js';

/** Whether somebody outside had to answer something for the member. */
export function hasWaited(context: RunContext, key: string): boolean {
  const prefix = childPrefix(key);
  return context.allSteps().some((step) => step.kind === 'wait' && step.key.startsWith(prefix));
}
