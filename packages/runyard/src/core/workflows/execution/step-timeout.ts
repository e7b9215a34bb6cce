import type { TimeBound } from '../../async/abort.js';
import { RunFailed } from '../../runs/executable.js';
import type { Timers } from '../../timers.js';
import type { StepNode } from '../definition/node.js';

/** What the wire calls it. */
export const timeoutType = 'step_timeout';

/** The time of a step was up. */
export class StepTimeout extends RunFailed {
  constructor(message: string) {
    super({ type: timeoutType, message });
  }
}

/** How long the work of a step may take. */
export function boundOf({ name, timeoutMs }: StepNode, signal: AbortSignal, timers: Timers): TimeBound {
  const timeout = () => new StepTimeout(`'${name}' did not finish within ${timeoutMs} ms and was stopped.`);
  return { timeoutMs, signal, timers, timeout };
}
