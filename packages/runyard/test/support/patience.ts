import { availableParallelism, loadavg } from 'node:os';

/**
 * How long to wait here for something that may take `idleMs` on an idle machine: longer while more processes want a
 * core than there are. It is the time after which something is taken for broken, never a measurement.
 */
export function patience(idleMs = 60_000): number {
  const perCore = loadavg()[0]! / availableParallelism();
  return Math.ceil(idleMs * Math.max(1, perCore));
}
