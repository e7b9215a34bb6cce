import type { RunContext } from '../../runs/context.js';
import { childPrefix } from '../../runs/journal/child-steps.js';

/** Whether a person had to answer something for the member. */
export function hasWaited(context: RunContext, key: string): boolean {
  const prefix = childPrefix(key);
  return context.allSteps().some((step) => step.kind === 'wait' && step.key.startsWith(prefix));
}
