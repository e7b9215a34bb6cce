import type { EngineOptions } from '../engine-options.js';
import type { Executable } from '../executable.js';
import { notBegun } from '../execution/live-run-start.js';
import { fingerprintIn, isOfNewerFormat } from '../journal/journal-format.js';
import { replayRun } from '../resume/replay.js';
import type { Run } from '../run.js';

/** For how many lengths of a lease a run that does not fit the code of this process is left to the others. */
const leasesLeft = 4;
/** Beyond this many it looks at all of them once more. */
const rememberedRuns = 10_000;

interface Left {
  readonly attempt: number;
  readonly until: number;
}

/**
 * Two versions of the software run side by side during a rolling deploy. A run that the other one has executed is left
 * to its processes if this one cannot read it, or if its code does not fit it; the latter not forever, because the
 * deploy may be over, and no process may be left that it fits.
 */
export class OthersRuns {
  private readonly left = new Map<string, Left>();

  constructor(
    private readonly options: Pick<
      EngineOptions,
      'journal' | 'timers' | 'log' | 'leaseMs' | 'orphans' | 'alone'
    >,
  ) {}

  /** Whether this process does not take up the run now. */
  async leaves(run: Run, executable: Executable): Promise<boolean> {
    if (isOfNewerFormat(run)) return true;
    const { timers } = this.options;
    const known = this.left.get(run.runId);
    if (known?.attempt === run.attempt) return timers.elapsed() < known.until;
    if (!this.mayFitOthers(run, executable) || (await this.fits(run, executable))) return false;
    this.leave(run);
    return true;
  }

  /** What has not begun fits any code, and without other processes there is nothing to wait for. */
  private mayFitOthers(run: Run, { fingerprint }: Executable): boolean {
    const { orphans, alone } = this.options;
    if (orphans === undefined || alone === true || run.attempt === notBegun) return false;
    return fingerprint !== undefined && fingerprint !== fingerprintIn(run);
  }

  private async fits({ runId }: Run, executable: Executable): Promise<boolean> {
    const { journal, timers } = this.options;
    const stored = await journal.load(runId);
    if (stored === undefined) return true;
    return (await replayRun(executable, stored.run, stored.steps, timers)).difference === undefined;
  }

  private leave({ runId, attempt, componentId }: Run): void {
    const { timers, leaseMs, log } = this.options;
    if (this.left.size >= rememberedRuns) this.left.clear();
    this.left.set(runId, { attempt, until: timers.elapsed() + leasesLeft * leaseMs });
    log.info({ runId, component: componentId }, 'a run of other code is left to other processes');
  }
}
