import { isReported } from '../../errors/errors.js';
import type { EngineOptions } from '../engine-options.js';
import type { OrphanOptions } from '../resume/ending-executable.js';
import { hasMovedOn, type RestingRuns } from '../resume/resting-runs.js';
import { isJob, type Run, type RunFailure, terminalStatuses } from '../run.js';
import { appliesTo } from './cancellations.js';
import type { Recovery } from './recovery.js';

const batchSize = 32;

/** Ends runs of components that no process has registered for a long time, and those that a client cancelled. */
export class OrphanedRuns {
  private looking: Promise<void> | undefined;
  private ended = false;

  constructor(
    private readonly recovery: Recovery,
    private readonly resting: RestingRuns,
    private readonly options: EngineOptions,
    private readonly orphans: OrphanOptions,
  ) {}

  /** One look at a time: a caller who comes during it waits for it. */
  look(): Promise<void> {
    this.looking ??= this.lookOnce()
      .catch((error: unknown) => {
        if (!isReported(error))
          this.options.log.error({ err: error }, 'looking for runs of unregistered components failed');
      })
      .finally(() => {
        this.looking = undefined;
      });
    return this.looking;
  }

  /** Ends no runs from now on. */
  async end(): Promise<void> {
    this.ended = true;
    await this.looking;
  }

  private async lookOnce(): Promise<void> {
    await this.cancelRequested();
    if (this.orphans.endAfterMs > 0) await this.endOverdue();
  }

  /** A run that was cancelled while another process held it, and whose process died since. */
  private async cancelRequested(): Promise<void> {
    const { journal } = this.options;
    const { journal: orphans, components } = this.orphans;
    for (const request of await orphans.cancellations(await components())) {
      if (this.ended) return;
      const run = (await journal.load(request.runId))?.run;
      if (run === undefined || !appliesTo(request, run) || terminalStatuses.has(run.status)) continue;
      if (run.status === 'paused')
        await this.attempt(run, () => this.resting.cancel(run.runId, request.reason));
      // refused while a process holds it
      else await this.attempt(run, () => this.recovery.cancel(run, request.reason));
    }
  }

  private async endOverdue(): Promise<void> {
    const { journal, components, endAfterMs } = this.orphans;
    while (!this.ended) {
      const before = (await this.options.leases.now()) - endAfterMs;
      const runs = await journal.orphaned(await components(), before, batchSize);
      let endedSome = false;
      for (const run of runs) {
        if (this.ended) return;
        if (await this.attempt(run, () => this.fail(run))) endedSome = true;
      }
      // those that could not be ended stay in the list: they are tried again with the next look
      if (runs.length < batchSize || !endedSome) return;
    }
  }

  private async fail(run: Run): Promise<boolean> {
    const { runId, kind, componentId } = run;
    const failure = notRegistered(run, this.orphans.endAfterMs);
    if (run.status === 'paused') await this.resting.fail(runId, failure);
    else if (!(await this.recovery.fail(run, failure))) return false;
    this.options.log.warn({ runId, kind, componentId }, failure.message);
    return true;
  }

  /** Whether this process ended the run. */
  private async attempt(run: Run, end: () => Promise<unknown>): Promise<boolean> {
    try {
      return (await end()) !== false;
    } catch (error) {
      // the database went away: the next look finds all of them
      if (isReported(error)) throw error;
      if (hasMovedOn(error)) return false;
      this.options.log.error(
        { err: error, runId: run.runId },
        'a run of an unregistered component could not be ended',
      );
      return false;
    }
  }
}

function notRegistered({ kind, componentId }: Run, waitedMs: number): RunFailure {
  const type = 'component_not_registered';
  const waited = `${inWords(waitedMs)} (setting orphanedRunsMs)`;
  if (isJob({ kind })) {
    const message = `Jobs of the kind '${componentId}' are not registered, and no process took this one up for ${waited}.`;
    return { type, message };
  }
  const next = kind === 'workflow' ? 'start a new run' : 'continue this run';
  return {
    type,
    message:
      `The ${kind} '${componentId}' of this run is not registered, and no process took the run up for ` +
      `${waited}. Register the ${kind} again and ${next}.`,
  };
}

function inWords(milliseconds: number): string {
  const hours = milliseconds / 3_600_000;
  if (hours >= 1) return `${Math.round(hours * 10) / 10} hours`;
  return `${Math.round(milliseconds / 100) / 10} seconds`;
}
