/**
 * Chooses, for each run that was queued, one of the processes that have a free slot: the others need not look for it. A
 * choice only saves looks; the polls of all processes find what the chosen one does not take.
 */
export interface WakeUps {
  /** Whether this process is to look for the run: true for one of those that ask. It does not reject. */
  isChosen(runId: string): Promise<boolean>;
}
