import type { LiveRun } from './execution/live-run.js';
import { continuationsOf } from './resume/continuation.js';
import type { Run, RunOptions, StepRecord } from './run.js';

/** What the caller asked for, and over it what came with each request to continue the run. */
export function optionsOf(live: LiveRun): RunOptions {
  const { options } = live.run.input;
  const continued = live.steps.ofKind('', 'continue');
  if (continued.length === 0) return options;
  return Object.assign(
    {},
    options,
    ...continuationsOf(continued).map((continuation) => continuation.options),
  );
}

/** Whether a request that started the run, or one that continued it, asked for a stream of its events. */
export function isStreamed({ input }: Run, steps: readonly StepRecord[]): boolean {
  const asked = [input.options, ...continuationsOf(steps).map(({ options }) => options)];
  return asked.some(({ stream, streamed }) => stream === true && streamed !== false);
}

/** Nested runs are followed as the outermost run is now, and what is fixed for it is fixed for them. */
export function optionsInside(live: LiveRun, { input }: Run): RunOptions {
  const { stream, fixed } = optionsOf(live);
  return { ...input.options, stream, ...(fixed !== undefined && { fixed }) };
}
