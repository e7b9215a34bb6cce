/** How long a run that could not be taken up is left alone: longer after each failure. */
const firstPauseMs = 1_000;
const longestPauseMs = 300_000;
/** Beyond this many runs the oldest setback is forgotten: that run is tried once more than it had to be. */
const keptSetbacks = 10_000;

interface Setback {
  readonly failures: number;
  readonly until: number;
}

/** Remembers which runs could not be taken up, so that a run that fails each time is tried less and less often. */
export class Setbacks {
  private readonly byRun = new Map<string, Setback>();

  /** Whether the run failed so recently that it has to wait. */
  holdsBack(runId: string, now: number): boolean {
    return (this.byRun.get(runId)?.until ?? 0) > now;
  }

  failed(runId: string, now: number): void {
    const failures = (this.byRun.get(runId)?.failures ?? 0) + 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
    this.byRun.delete(runId);
    this.byRun.set(runId, { failures, until: now + pauseMs });
    if (this.byRun.size <= keptSetbacks) return;
    for (const oldest of this.byRun.keys()) {
      this.byRun.delete(oldest);
      return;
    }
  }

  succeeded(runId: string): void {
    this.byRun.delete(runId);
  }
}
