import { RunPaused } from './context.js';

type Settled<T> = readonly PromiseSettledResult<T>[];

/** The values of parallel parts of a run that have all ended. A failure counts for more than a pause. */
export function settledValues<T>(settled: Settled<T>): T[] {
  throwFailure(settled);
  const paused = pauseOf(settled);
  if (paused !== undefined) throw paused;
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

export function throwFailure(settled: Settled<unknown>): void {
  const failure = reasonsOf(settled).find((reason) => !(reason instanceof RunPaused));
  if (failure !== undefined) throw failure;
}

/** All that the parts wait for, as one pause. */
export function pauseOf(settled: Settled<unknown>): RunPaused | undefined {
  const pauses = reasonsOf(settled).filter((reason) => reason instanceof RunPaused);
  return pauses.length === 0 ? undefined : new RunPaused(pauses.flatMap(({ requirements }) => requirements));
}

function reasonsOf(settled: Settled<unknown>): unknown[] {
  return settled.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
}
