import { continuationsOf } from './continuation.js';
import type { LiveRun } from './live-run.js';
import type { Run, RunOptions } from './run.js';

/** What the caller asked for, and over it what came with each request to continue the run. */
export function optionsOf(live: LiveRun): RunOptions {
  const { options } = live.run.input;
  const continuations = continuationsOf(live.stepsOfKind('', 'continue'));
  return continuations.length === 0
    ? options
    : Object.assign({}, options, ...continuations.map((continuation) => continuation.options));
}

/** How the outermost run is followed now is how the runs inside it are. */
export function optionsInside(live: LiveRun, { input }: Run): RunOptions {
  return { ...input.options, stream: optionsOf(live).stream };
}
