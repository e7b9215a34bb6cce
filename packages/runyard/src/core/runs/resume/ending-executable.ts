import { errors } from '../../errors/errors.js';
import type { Executable } from '../executable.js';
import type { CancelRequest } from '../journal/ports.js';
import type { Run } from '../run.js';

/** Finds runs of components that this process does not have. */
export interface OrphanJournal {
  /**
   * Runs of other components that no process has taken up since `before`, a time of the journal: pending and running ones whose lease
   * ended, and paused ones whose time to continue came. The order is not specified.
   */
  orphaned(components: readonly string[], before: number, limit: number): Promise<readonly Run[]>;

  /** Requests to cancel runs of other components; the runs may have ended in between. */
  cancellations(components: readonly string[]): Promise<readonly CancelRequest[]>;
}

export interface OrphanOptions {
  readonly journal: OrphanJournal;
  /** The components that this process can execute, by `componentKey`. */
  readonly components: () => readonly string[] | Promise<readonly string[]>;
  /** Ends runs in the place of a component that is not registered. */
  readonly standIn: (run: Run) => Executable;
  /** How long a run may wait for a process that has its component; 0: forever. */
  readonly endAfterMs: number;
}

/** A component as one text: ids are unique within a kind. */
export function componentKey(kind: Run['kind'], id: string): string {
  return `${kind} ${id}`;
}

interface EndingOptions {
  readonly resolve: (run: Run) => Promise<Executable | undefined> | Executable | undefined;
  readonly orphans?: OrphanOptions;
}

/**
 * What can end a run: its component, or a stand-in where the component is not registered or cannot be built. The only
 * place that decides this.
 */
export async function endingExecutable(run: Run, { resolve, orphans }: EndingOptions): Promise<Executable> {
  try {
    const executable = await resolve(run);
    if (executable !== undefined) return executable;
  } catch (error) {
    if (orphans === undefined) throw error;
  }
  if (orphans === undefined) throw errors.componentNotRegistered(run);
  return orphans.standIn(run);
}
